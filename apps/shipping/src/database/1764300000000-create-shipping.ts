import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Neither shipments nor reservations are unique by order, although there must be only one: nothing but the inbox keeps
 * a second delivery from having a second effect, so counting them shows whether it does.
 */
export class CreateShipping1764300000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`create table shipments (
      id uuid primary key default gen_random_uuid(),
      order_id uuid not null,
      sku text not null,
      quantity integer not null,
      status text not null default 'waiting' check (status in ('waiting', 'released', 'cancelled')),
      created_at timestamptz not null default now()
    )`);
    await runner.query('create index shipments_order_id on shipments (order_id)');
    await runner.query(`create table reservations (
      id uuid primary key default gen_random_uuid(),
      order_id uuid not null,
      sku text not null,
      quantity integer not null,
      status text not null default 'held' check (status in ('held', 'given_back')),
      created_at timestamptz not null default now()
    )`);
    await runner.query('create index reservations_order_id on reservations (order_id)');
    await runner.query(`create table receipts (
      id bigint generated always as identity primary key,
      consumer text not null,
      event_id text not null,
      type text,
      aggregate_id text,
      sequence bigint,
      received_at timestamptz not null default clock_timestamp()
    )`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table receipts');
    await runner.query('drop table reservations');
    await runner.query('drop table shipments');
  }
}
