import { randomUUID } from 'node:crypto';
import {
  BacklogService,
  BlockedKeyService,
  DeadLetterService,
  type OutboxSchemaOptions,
  outboxMigrations,
  PartitionService,
  RetentionService,
} from 'nestjs-transactional-outbox';
import { MemoryTransport } from 'nestjs-transactional-outbox/memory';
import { DataSource } from 'typeorm';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { byHand } from '../support/by-hand.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { noted, type OutboxApp, startOutboxApp, step } from '../support/outbox-app.js';

const NAMES: [string, OutboxSchemaOptions][] = [
  ['a schema with a dash', { schema: 'my-schema' }],
  ['a schema with a double quote', { schema: 'with"quote' }],
  ['a schema with a single quote, a backslash and a dollar quote', { schema: "it's\\ $1 $$" }],
  ['a reserved word', { schema: 'select' }],
  ['a schema of 63 characters', { schema: 'x'.repeat(63) }],
  [
    'tables that need quotes',
    {
      schema: 'Messaging',
      tables: {
        event: 'Order',
        delivery: 'user',
        lane: 'la"ne',
        aggregate: "o'clock; --",
        destination: 'z'.repeat(48),
      },
    },
  ],
];

/** Of the names that the library uses by itself; no statement may find them. */
const DECOYS = [
  'event',
  'delivery',
  'delivery_archive',
  'delivery_operation',
  'lane',
  'aggregate',
  'destination',
  'schema_version',
]
  .map((name) => `create table public.outbox_${name} (decoy text)`)
  .concat(
    'create view public.outbox_event_status as select 1 as decoy',
    'create sequence public.outbox_delivery_token',
  );

const OUR_TABLES = `select table_schema, table_name from information_schema.tables
  where table_schema not in ('pg_catalog', 'information_schema', 'public')`;

const CHECK_DECOYS = `select (select count(*)::int from outbox_event) + (select count(*)::int from outbox_delivery)
  + (select count(*)::int from outbox_delivery_archive) + (select count(*)::int from outbox_lane)
  + (select count(*)::int from outbox_delivery_operation) + (select count(*)::int from outbox_aggregate) + (select count(*)::int from outbox_destination)
  + (select count(*)::int from outbox_schema_version) as rows,
  (select is_called from outbox_delivery_token) as "isCalled"`;

const LISTENERS = `select pid from pg_stat_activity
  where datname = current_database() and application_name like '%:outbox-listen' and query like 'listen%'`;

describe.each(NAMES)('with %s, and tables of the default names in public that are not ours', (_what, names) => {
  let database: TestDatabase;
  let dataSource: DataSource;
  let apps: OutboxApp[];
  beforeEach(async () => {
    apps = [];
    database = await createTestDatabase();
    for (const decoy of DECOYS) await database.query(decoy);
    dataSource = await new DataSource({
      type: 'postgres',
      url: database.url,
      migrations: outboxMigrations(names),
    }).initialize();
    await dataSource.query('create table orders (id uuid primary key, "amountCents" int not null)');
  });
  afterEach(async () => {
    for (const app of apps.reverse()) await app.close();
    await dataSource.destroy();
    await database.drop();
  });

  const start = async (options: Parameters<typeof startOutboxApp>[0] = {}): Promise<OutboxApp> => {
    const app = await startOutboxApp({
      database,
      memory: new MemoryTransport(),
      ...options,
      outbox: { ...names, migrate: 'verify', ...options.outbox },
    });
    apps.push(app);
    return app;
  };
  const untouched = async (): Promise<void> =>
    expect(await database.query(CHECK_DECOYS)).toEqual([{ rows: 0, isCalled: false }]);

  it('migrations go up, down and up again, and leave nothing when they are down', async () => {
    await dataSource.runMigrations();
    expect((await database.query(OUR_TABLES)).length).toBeGreaterThan(5);
    for (const _ of dataSource.migrations) await dataSource.undoLastMigration();
    expect(await database.query(OUR_TABLES)).toEqual([]);
    await dataSource.runMigrations();
    await start();
    await untouched();
  });

  it('events are stored, delivered, given up, redriven, counted and pruned there', async () => {
    await dataSource.runMigrations();
    const healthy = { isHealthy: false };
    const memory = new MemoryTransport({
      respond: () => (healthy.isHealthy ? { kind: 'delivered' } : { kind: 'dead', error: 'no' }),
    });
    const app = await start({ memory, outbox: { completion: 'archive' } });
    const orderId = randomUUID();
    await app.service.place(app.orders.create({ id: orderId, amountCents: 3 }));
    await app.outbox.transaction(() => app.outbox.emit([step(orderId, 1), step(orderId, 2)]));
    expect(await app.module.get(BacklogService).read()).toMatchObject([{ destination: 'memory', pending: 3 }]);

    expect(await app.dispatcher.drain()).toMatchObject({ dead: 2 });
    expect(await app.module.get(BlockedKeyService).list()).toMatchObject([{ aggregateId: orderId }]);
    expect(await app.module.get(DeadLetterService).list()).toHaveLength(2);

    healthy.isHealthy = true;
    expect(await app.module.get(DeadLetterService).redrive({ destination: 'memory' }, byHand)).toBe(2);
    expect(await app.dispatcher.drain()).toMatchObject({ delivered: 3 });
    const steps = memory.accepted.filter(({ envelope }) => envelope.sequence !== undefined);
    expect(steps.map(({ envelope }) => envelope.sequence)).toEqual([1n, 2n]);
    expect(await app.module.get(RetentionService).prune({ olderThanMs: 0 })).toMatchObject({ events: 3 });
    await untouched();
  });

  it('the log is moved to partitions there, kept up, and goes down with the migrations', async () => {
    await dataSource.runMigrations();
    const app = await start();
    const partitions = app.module.get(PartitionService);
    await app.outbox.transaction(() => app.outbox.emit([noted(randomUUID()), step(randomUUID(), 1)]));
    await partitions.partition();
    await app.outbox.transaction(() => app.outbox.emit([noted(randomUUID()), step(randomUUID(), 1)]));
    expect(await app.dispatcher.drain()).toMatchObject({ delivered: 4 });
    expect((await partitions.list()).map(({ kind }) => kind).toSorted()).toEqual(['day', 'default', 'other']);
    const maintained = await partitions.maintain({ aheadDays: 9, deliveredForMs: 0 });
    expect(maintained).toMatchObject({ made: [expect.anything(), expect.anything()], kept: [], postponed: [] });
    expect(await app.module.get(RetentionService).enforce({ deliveredForMs: 0 })).toMatchObject({ events: 4 });
    await untouched();
    await app.close();
    apps.pop();
    for (const _ of dataSource.migrations) await dataSource.undoLastMigration();
    expect(await database.query(OUR_TABLES)).toEqual([]);
    await dataSource.runMigrations();
    expect(await (await start()).module.get(PartitionService).list()).toEqual([]);
    await untouched();
  });

  it('a commit in one process wakes the dispatcher in another', async () => {
    await dataSource.runMigrations();
    const dispatching = await start({ outbox: { dispatcher: { schedule: 'loop', pollIntervalMs: 3_600_000 } } });
    const emitting = await start({ outbox: { dispatcher: { enabled: false, schedule: false } } });
    await eventually(async () => expect(await database.query(LISTENERS)).toHaveLength(1));
    const [id] = await emitting.outbox.transaction(() => emitting.outbox.emit(noted(randomUUID())));
    const [received] = await dispatching.memory.waitForCount(1, 10_000);
    expect(received?.envelope.id).toBe(id);
    await untouched();
  });
});
