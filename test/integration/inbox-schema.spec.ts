import { DataSource } from 'typeorm';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  ensureSchema,
  inboxComponent,
  inboxMigrations,
  inboxSchemaSql,
  outboxMigrations,
  PostgresInboxStore,
  resolveInboxNames,
} from '../../libs/outbox/src/store/index.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';

const NAMES = [
  { schema: undefined, table: undefined },
  { schema: 'my-schema', table: 'Order' },
  { schema: 'with"quote', table: 'select' },
  { schema: 'x'.repeat(63), table: 'y'.repeat(48) },
];

const entry = { consumer: 'c', eventId: 'e', eventType: 't', contentDigest: Buffer.alloc(32, 7) };

describe('The table of processed events', () => {
  let database: TestDatabase;
  let dataSource: DataSource | undefined;

  beforeEach(async () => {
    database = await createTestDatabase();
  });

  afterEach(async () => {
    if (dataSource?.isInitialized) await dataSource.destroy();
    await database.drop();
  });

  async function connect(migrations: (new () => object)[] = []): Promise<DataSource> {
    dataSource = await new DataSource({ type: 'postgres', url: database.url, migrations }).initialize();
    return dataSource;
  }

  it.each(NAMES)(
    'works in schema $schema under the name $table, and never touches a decoy in public',
    async (names) => {
      if (names.schema !== undefined) await database.query('create table processed_events (decoy int)');
      const source = await connect();
      const component = inboxComponent(resolveInboxNames(names));
      await ensureSchema(source, component, 'auto');
      await ensureSchema(source, component, 'verify');

      const store = new PostgresInboxStore(resolveInboxNames(names), { preparesStatements: true });
      await source.transaction(async (manager) => {
        expect(await store.record(manager, entry, 1000)).toEqual({ isRecorded: true });
        await store.keepResult(manager, 'c', 'e', '{"a":[1,null]}');
        const earlier = { contentDigest: entry.contentDigest, result: { a: [1, null] } };
        expect(await store.record(manager, entry, 1000)).toEqual({ isRecorded: false, earlier });
        expect(await store.find(manager, 'c', 'e')).toEqual(earlier);
        expect(await store.find(manager, 'c', 'other')).toBeUndefined();
      });
      if (names.schema !== undefined) expect(await database.query('select * from processed_events')).toEqual([]);
    },
  );

  it.each(NAMES)('in schema $schema as $table comes and goes with migrations: up, down, up', async (names) => {
    const source = await connect(inboxMigrations(names));
    await source.runMigrations();
    await source.undoLastMigration();
    const left = await database.query(
      "select table_schema, table_name from information_schema.tables where table_schema not in ('pg_catalog', 'information_schema') and table_name <> 'migrations'",
    );
    expect(left).toEqual([]);
    await source.runMigrations();
    await ensureSchema(source, inboxComponent(resolveInboxNames(names)), 'verify');
  });

  it('lives beside the tables of the outbox, with a version of its own', async () => {
    const source = await connect([...outboxMigrations(), ...inboxMigrations()]);
    await source.runMigrations();
    const versions = await database.query('select component, version from outbox_schema_version order by 1');
    expect(versions).toEqual([
      { component: 'inbox', version: 1 },
      { component: 'outbox', version: outboxMigrations().length },
    ]);
    await source.undoLastMigration();
    expect(await database.query('select component from outbox_schema_version')).toEqual([{ component: 'outbox' }]);
  });

  it('can be made from plain SQL, once', async () => {
    await database.query(inboxSchemaSql({ schema: 'messages' }));
    await ensureSchema(await connect(), inboxComponent(resolveInboxNames({ schema: 'messages' })), 'verify');
  });

  it('is made once by five applications that start at the same time', async () => {
    const source = await connect();
    const component = inboxComponent(resolveInboxNames());
    await Promise.all(Array.from({ length: 5 }, () => ensureSchema(source, component, 'auto')));
    await ensureSchema(source, component, 'verify');
  });

  it('is found by its primary key when a duplicate is looked up', async () => {
    const source = await connect();
    await ensureSchema(source, inboxComponent(resolveInboxNames()), 'auto');
    await database.query("insert into processed_events select 'c', i::text, 't', '' from generate_series(1, 20000) i");
    await database.query('analyze processed_events');
    const plan = await database.query(
      "explain select content_digest, result from processed_events where consumer_name = 'c' and event_id = '77'",
    );
    expect(JSON.stringify(plan)).toContain('processed_events_pkey');
  });
});
