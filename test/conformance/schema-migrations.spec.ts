import { outboxMigrations, outboxSchemaSql } from 'nestjs-transactional-outbox';
import { DataSource, type DataSourceOptions, Entity, PrimaryColumn } from 'typeorm';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { Order, startOutboxApp } from '../support/outbox-app.js';

@Entity('customer')
class Customer {
  @PrimaryColumn('int')
  id: number;
}

/** Everything that belongs to the library in public. */
const OBJECTS = `select c.relname as name, c.relkind as kind, pg_get_indexdef(i.indexrelid) as index,
    (select jsonb_agg(jsonb_build_array(a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull) order by a.attnum)
      from pg_attribute a where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped) as columns
  from pg_class c left join pg_index i on i.indexrelid = c.oid
  where c.relnamespace = 'public'::regnamespace and c.relname like 'outbox%' order by 1`;

/** As Debezium's Outbox Event Router expects them when none of its options names another. */
const ROUTER_COLUMNS = [
  { name: 'id', type: 'uuid', notNull: true },
  { name: 'aggregatetype', type: 'character varying(255)', notNull: true },
  { name: 'aggregateid', type: 'character varying(255)', notNull: true },
  { name: 'type', type: 'character varying(255)', notNull: true },
  { name: 'payload', type: 'jsonb', notNull: false },
];

describe('the tables of the outbox', () => {
  let database: TestDatabase;
  const sources: DataSource[] = [];
  beforeEach(async () => {
    database = await createTestDatabase();
  });
  afterEach(async () => {
    for (const source of sources.splice(0)) if (source.isInitialized) await source.destroy();
    await database.drop();
  });

  const connect = (options: Partial<Pick<DataSourceOptions, 'entities' | 'migrations' | 'synchronize'>> = {}) => {
    const source = new DataSource({ type: 'postgres', url: database.url, ...options });
    sources.push(source);
    return source.initialize();
  };

  it('are the same whether they come from a migration, from SQL, or from the start of an application', async () => {
    await (await connect({ migrations: outboxMigrations() })).runMigrations();
    const migrated = await database.query(OBJECTS);
    const [fromSql, fromStart] = [await createTestDatabase(), await createTestDatabase()];
    try {
      await fromSql.query(outboxSchemaSql());
      expect(await fromSql.query(OBJECTS)).toEqual(migrated);
      await (await startOutboxApp({ database: fromStart })).close();
      expect(await fromStart.query(OBJECTS)).toEqual(migrated);
    } finally {
      await fromSql.drop();
      await fromStart.drop();
    }
  });

  it('come from the exported SQL as it is, in schema and under names that need quotes, and fit the library', async () => {
    const names = { schema: 'with"quote $$', tables: { event: 'Order', delivery: 'user' } };
    await database.query(outboxSchemaSql(names));
    await (await startOutboxApp({ database, outbox: { ...names, migrate: 'verify' } })).close();
  });

  it('of two schemas can be migrated by one DataSource, and by two that share a history', async () => {
    const [billing, shipping] = [outboxMigrations({ schema: 'billing' }), outboxMigrations({ schema: 'shipping' })];
    await (await connect({ migrations: [...billing, ...outboxMigrations()] })).runMigrations();
    await (await connect({ migrations: shipping })).runMigrations();
    for (const schema of ['billing', 'public', 'shipping']) {
      await (await startOutboxApp({ database, outbox: { schema, migrate: 'verify' } })).close();
    }
  });

  it('go down one set at a time: the other sets, and their versions, stay', async () => {
    const named = { tables: { event: 'e', delivery: 'd', lane: 'l', aggregate: 'a', destination: 't' } };
    await (await connect({ migrations: outboxMigrations() })).runMigrations();
    const source = await connect({ migrations: outboxMigrations(named) });
    await source.runMigrations();
    for (const _ of source.migrations) await source.undoLastMigration();
    await (await startOutboxApp({ database, outbox: { migrate: 'verify' } })).close();
    expect(await database.query(`select to_regclass('e') as e`)).toEqual([{ e: null }]);
  });

  it('are neither made, changed nor dropped by synchronize, nor by what the schema builder would do', async () => {
    const first = await connect({ entities: [Order, Customer], synchronize: true });
    expect(await database.query(OBJECTS)).toEqual([]);
    await first.runMigrations();
    await (await connect({ migrations: outboxMigrations() })).runMigrations();
    const before = await database.query(OBJECTS);

    // An entity less, one more time: the builder looks at everything that it could drop.
    const second = await connect({ entities: [Order], synchronize: true });
    await second.synchronize();
    expect(await database.query(OBJECTS)).toEqual(before);
    const { upQueries, downQueries } = await second.driver.createSchemaBuilder().log();
    expect([...upQueries, ...downQueries].map(({ query }) => query)).toEqual([]);

    const app = await startOutboxApp({ database, outbox: { migrate: 'verify' } });
    const own = await app.dataSource.driver.createSchemaBuilder().log();
    await app.close();
    expect(own.upQueries.map(({ query }) => query)).toEqual([]);
  });

  it('have an event log with the columns that the Outbox Event Router of Debezium reads by default', async () => {
    await database.query(outboxSchemaSql());
    const columns = await database.query(
      `select attname as name, format_type(atttypid, atttypmod) as type, attnotnull as "notNull"
        from pg_attribute where attrelid = 'outbox_event'::regclass and attnum > 0 and not attisdropped order by attnum`,
    );
    expect(columns).toEqual(expect.arrayContaining(ROUTER_COLUMNS));
  });

  it('can be published with inserts only, with the id as replica identity', async () => {
    await database.query(outboxSchemaSql());
    await database.query(`create publication outbox_pub for table outbox_event with (publish = 'insert')`);
    const [identity] = await database.query(
      `select c.relreplident as identity, pg_get_constraintdef(k.oid) as key from pg_class c
        join pg_constraint k on k.conrelid = c.oid and k.contype = 'p' where c.oid = 'outbox_event'::regclass`,
    );
    expect(identity).toEqual({ identity: 'd', key: 'PRIMARY KEY (id)' });
  });
});
