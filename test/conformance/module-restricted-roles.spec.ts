import { randomUUID } from 'node:crypto';
import { outboxMigrations, outboxSchemaSql } from 'nestjs-transactional-outbox';
import pg from 'pg';
import { DataSource } from 'typeorm';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { noted, Order, type OutboxApp, startOutboxApp, step } from '../support/outbox-app.js';

// Roles belong to the server, not to a database: each test has its own, and takes it away again.
describe('a role with few rights', () => {
  let database: TestDatabase;
  let role: string;
  let url: string;
  beforeEach(async () => {
    database = await createTestDatabase();
    role = `role_${randomUUID().replaceAll('-', '')}`;
    await database.query(`create role ${role} login password 'secret'`);
    await database.query('create schema shop');
    const own = new URL(database.url);
    own.username = role;
    own.password = 'secret';
    url = own.href;
  });
  afterEach(async () => {
    await database.query(`drop owned by ${role} cascade`);
    await database.query(`drop role ${role}`);
    await database.drop();
  });

  const connect = () => new DataSource({ type: 'postgres', url, entities: [Order] }).initialize();

  async function start(migrate: 'auto' | 'verify'): Promise<OutboxApp> {
    return startOutboxApp({ database, dataSource: await connect(), outbox: { migrate, schema: 'shop' } });
  }

  describe('that may create tables in its schema, but no schemas', () => {
    beforeEach(() => database.query(`grant usage, create on schema shop to ${role}`));

    const tables = async (): Promise<number> =>
      (await database.query(`select from pg_tables where schemaname = 'shop'`)).length;

    it('migrates when the application starts', async () => {
      await (await start('auto')).close();
      expect(await tables()).toBeGreaterThan(4);
    });

    it('migrates by TypeORM', async () => {
      const dataSource = await new DataSource({
        type: 'postgres',
        url,
        schema: 'shop',
        migrations: outboxMigrations({ schema: 'shop' }),
      }).initialize();
      try {
        await dataSource.runMigrations();
        expect(await tables()).toBeGreaterThan(4);
        for (const _step of dataSource.migrations) await dataSource.undoLastMigration();
      } finally {
        await dataSource.destroy();
      }
      expect(await database.query(`select tablename from pg_tables where schemaname = 'shop'`)).toEqual([
        { tablename: 'migrations' },
      ]);
    });

    it('migrates by the exported SQL', async () => {
      const client = new pg.Client(url);
      await client.connect();
      await client.query(outboxSchemaSql({ schema: 'shop' })).finally(() => client.end());
      expect(await tables()).toBeGreaterThan(4);
    });
  });

  it('that may only read and write the tables runs an application on them', async () => {
    await database.query(outboxSchemaSql({ schema: 'shop' }));
    await database.query(`grant usage on schema shop to ${role}`);
    await database.query(`grant select, insert, update, delete on all tables in schema shop to ${role}`);
    await database.query(`grant usage on all sequences in schema shop to ${role}`);
    const app = await start('verify');
    try {
      await app.outbox.transaction(() => app.outbox.emit([noted(randomUUID()), step(randomUUID(), 1)]));
      expect(await app.dispatcher.drain()).toMatchObject({ delivered: 2 });
    } finally {
      await app.close();
    }
  });
});
