import { randomUUID } from 'node:crypto';
import { DeadLetterService, type MaintainedPartitions, PartitionService } from 'nestjs-transactional-outbox';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { byHand } from '../support/by-hand.js';
import { emitConstantly } from '../support/constant-emits.js';
import { eventually } from '../support/eventually.js';
import { noted, type OutboxApp, startOutboxApp } from '../support/outbox-app.js';
import { DAY_MS, logEvents, makeDay, partitionOf, partitionsOf } from '../support/partitioned-log.js';

const WEEK_MS = 7 * DAY_MS;

describe('a log in daily partitions', { timeout: 60_000 }, () => {
  let app: OutboxApp;
  let partitions: PartitionService;
  const apps: OutboxApp[] = [];
  const clients: pg.Client[] = [];
  beforeEach(async () => {
    app = await startOutboxApp();
    partitions = app.module.get(PartitionService);
    await partitions.partition();
  });
  afterEach(async () => {
    for (const client of clients.splice(0)) await client.end();
    for (const replica of apps.splice(0)) await replica.close();
    await app.close();
  });

  const emit = (): Promise<string[]> => app.outbox.transaction(() => app.outbox.emit(noted(randomUUID())));
  const countIn = async (table: string): Promise<number> => (await app.database.query(`select from ${table}`)).length;
  const maintain = (options: { lockTimeoutMs?: number } = {}): Promise<MaintainedPartitions> =>
    partitions.maintain({ deliveredForMs: WEEK_MS, ...options });
  /** A transaction that stays open until its client is told otherwise. */
  const open = async (...statements: string[]): Promise<pg.Client> => {
    const client = new pg.Client({ connectionString: app.database.url, application_name: 'long reader' });
    clients.push(client);
    await client.connect();
    for (const text of ['begin', ...statements]) await client.query(text);
    return client;
  };
  const openLongerThan = async (ms: number): Promise<void> =>
    eventually(async () => {
      const long = await app.database.query(
        `select from pg_stat_activity where application_name = 'long reader' and datname = current_database()
         and xact_start < clock_timestamp() - $1 * interval '1 millisecond'`,
        [ms],
      );
      expect(long).toHaveLength(clients.length);
    });

  it('has partitions for today and seven days ahead, and a default one', async () => {
    const days = [0, -1, -2, -3, -4, -5, -6, -7].map(partitionOf);
    expect(await partitionsOf(app)).toEqual(['outbox_event_default', ...days]);
    expect(await maintain()).toMatchObject({ isPartitioned: true, made: [], dropped: [], kept: [], postponed: [] });
    await emit();
    expect(await countIn(partitionOf(0))).toBe(1);
  });

  it('takes events past its last partition, and maintenance puts them where they belong', async () => {
    for (const name of await partitionsOf(app))
      if (!name.endsWith('_default')) await app.database.query(`drop table ${name}`);
    await app.service.place(app.orders.create({ id: randomUUID(), amountCents: 1 }));
    await emit();
    expect(await countIn('outbox_event_default')).toBe(2);
    expect(await app.dispatcher.drain()).toMatchObject({ delivered: 2 });

    expect(await maintain()).toMatchObject({ moved: 2, kept: [], postponed: [] });
    expect(await countIn('outbox_event_default')).toBe(0);
    expect(await countIn(partitionOf(0))).toBe(2);
    expect(await app.database.query('select state from outbox_event_status')).toEqual([
      { state: 'done' },
      { state: 'done' },
    ]);
  });

  it('keeps an old partition with one pending event and one dead letter among 1,000 delivered ones, says so, and drops it when they are done', async () => {
    await makeDay(app, 30);
    await logEvents(app, { daysAgo: 30, delivered: 1000, pending: 1, dead: 1 });
    const kept = { name: partitionOf(30), contents: { undelivered: 1, deadLetters: 1, kept: 0, young: 0 } };
    expect(await maintain()).toMatchObject({
      dropped: [],
      kept: [{ ...kept, reason: '1 undelivered, 1 dead letters' }],
    });
    expect(await countIn(partitionOf(30))).toBe(1002);

    expect(await app.dispatcher.drain()).toMatchObject({ delivered: 1 });
    expect(await maintain()).toMatchObject({ dropped: [], kept: [{ reason: '1 dead letters' }] });
    await app.module.get(DeadLetterService).redrive({ destination: 'memory' }, byHand);
    expect(await app.dispatcher.drain()).toMatchObject({ delivered: 1 });
    expect(await maintain()).toMatchObject({ dropped: [partitionOf(30)], kept: [] });
    expect(await countIn('outbox_event')).toBe(0);
  });

  it('keeps what is young by the clock of the database, although a host whose clock was behind gave it an old id', async () => {
    await makeDay(app, 30);
    await logEvents(app, { daysAgo: 30, delivered: 3, writtenDaysAgo: 30 });
    await logEvents(app, { daysAgo: 30, delivered: 1, writtenDaysAgo: 1 });
    expect(await maintain()).toMatchObject({ dropped: [], kept: [{ reason: '1 younger than the retention' }] });
  });

  it.each(['keep', 'archive'])('keeps the events of deliveries that are kept (%s)', async (how) => {
    await makeDay(app, 30);
    await logEvents(app, { daysAgo: 30, pending: 1 });
    await app.database.query(
      how === 'keep'
        ? 'update outbox_delivery set status = 2, done_at = now()'
        : `with gone as (delete from outbox_delivery returning id, event_id, destination)
           insert into outbox_delivery_archive select id, event_id, destination, 1, now() from gone`,
    );
    expect(await maintain()).toMatchObject({ dropped: [], kept: [{ reason: '1 delivered and kept' }] });
  });

  it('drops nothing for which somebody writes a delivery while the lock is being waited for', async () => {
    await makeDay(app, 30);
    await logEvents(app, { daysAgo: 30, delivered: 1 });
    const replay = await open(
      `insert into outbox_delivery (event_id, destination, payload_bytes) select id, 'memory', 10 from outbox_event`,
    );
    const maintained = maintain({ lockTimeoutMs: 30_000 });
    await eventually(async () => {
      const waiting = `select from pg_locks where not granted and relation = 'outbox_event'::regclass`;
      expect(await app.database.query(waiting)).toHaveLength(1);
    });
    await replay.query('commit');
    expect(await maintained).toMatchObject({ dropped: [], kept: [{ reason: '1 undelivered' }] });
    expect(await app.dispatcher.drain()).toMatchObject({ delivered: 1 });
  });

  it('three replicas do the work once, while somebody reads the oldest partition for long and emits go on', async () => {
    for (const daysAgo of [30, 29, 28]) {
      await makeDay(app, daysAgo);
      await logEvents(app, { daysAgo, delivered: 10 });
    }
    await app.database.query(`drop table ${partitionOf(-7)}`);
    for (let more = 0; more < 2; more += 1) apps.push(await startOutboxApp({ database: app.database }));
    const reader = await open(`select count(*) from ${partitionOf(30)}`);
    await openLongerThan(200);

    const emits = emitConstantly(app);
    const replicas = [app, ...apps].map(({ module }) => module.get(PartitionService));
    const all: MaintainedPartitions[] = [];
    // Who came when another one was at it did nothing, and a lock that is not to be had at once is left for the next time.
    await eventually(async () => {
      all.push(...(await Promise.all(replicas.map((replica) => replica.maintain({ deliveredForMs: WEEK_MS })))));
      const left = await partitionsOf(app);
      expect(left.filter((name) => [partitionOf(29), partitionOf(28)].includes(name))).toEqual([]);
      expect(left).toContain(partitionOf(-7));
    });
    expect(all.flatMap(({ made }) => made)).toEqual([partitionOf(-7)]);
    expect(all.flatMap(({ dropped }) => dropped).toSorted()).toEqual([partitionOf(29), partitionOf(28)]);
    expect(all.flatMap(({ postponed }) => postponed)).toContainEqual({
      name: partitionOf(30),
      reason: expect.stringMatching(/^in use by long reader \(pid \d+\)$/),
    });
    const before = emits.count;
    await eventually(() => expect(emits.count).toBeGreaterThan(before + 20));
    await reader.query('commit');
    await eventually(async () => expect((await maintain()).dropped).toEqual([partitionOf(30)]));
    const orders = await emits.stop();
    expect(await countIn('outbox_event')).toBe(orders.length);
  });

  it('emits go on while a read of the whole log keeps maintenance from its locks, which gives up and says so', async () => {
    await makeDay(app, 30);
    await logEvents(app, { daysAgo: 30, delivered: 1 });
    await app.database.query(`drop table ${partitionOf(-7)}`);
    await open('select count(*) from outbox_event');
    await openLongerThan(200);
    const emits = emitConstantly(app);
    const report = await maintain();
    expect(report).toMatchObject({
      made: [],
      dropped: [],
      postponed: [
        {
          name: new Date(Date.now() + 7 * DAY_MS).toISOString().slice(0, 10),
          reason: 'no lock within the lock timeout',
        },
        { name: partitionOf(30), reason: expect.stringContaining('in use by long reader') },
      ],
    });
    const before = emits.count;
    await eventually(() => expect(emits.count).toBeGreaterThan(before + 20));
    expect(await emits.stop()).toHaveLength(emits.count);
  });

  it('leaves more events of a day than can be moved in a moment in the default partition', async () => {
    await app.database.query(`drop table ${partitionOf(-7)}`);
    await logEvents(app, { daysAgo: -7, delivered: 10_001 });
    const name = new Date(Date.now() + 7 * DAY_MS).toISOString().slice(0, 10);
    expect(await maintain()).toMatchObject({
      made: [],
      moved: 0,
      kept: [
        { name, reason: expect.stringContaining('at least 10001 events of that day are in the default partition') },
      ],
    });
    expect(await countIn('outbox_event_default')).toBe(10_001);
  });
});
