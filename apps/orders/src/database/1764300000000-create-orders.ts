import type { MigrationInterface, QueryRunner } from 'typeorm';

export class CreateOrders1764300000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`create table orders (
      id uuid primary key default gen_random_uuid(),
      sku text not null,
      quantity integer not null check (quantity > 0),
      amount_cents integer not null check (amount_cents > 0),
      status text not null default 'placed' check (status in ('placed', 'paid', 'cancelled')),
      placed_at timestamptz not null default now()
    )`);
    await runner.query('create index orders_placed_at on orders (placed_at desc)');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table orders');
  }
}
