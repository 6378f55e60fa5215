import { randomUUID } from 'node:crypto';
import { inboxSchemaSql, RetentionService } from 'nestjs-transactional-outbox';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { resolveInboxNames } from '../../libs/outbox/src/store/index.js';
import { mustPartitionStaySql } from '../../libs/outbox/src/store/sql/drop-partition.sql.js';
import { pruneEventsSql } from '../../libs/outbox/src/store/sql/prune.sql.js';
import { pruneProcessedEventsSql } from '../../libs/outbox/src/store/sql/prune-processed-events.sql.js';
import { emitConstantly } from '../support/constant-emits.js';
import { eventually } from '../support/eventually.js';
import { noted, type OutboxApp, startOutboxApp } from '../support/outbox-app.js';
import { tableNames } from '../support/outbox-queue.js';
import { DAY_MS, logEvents } from '../support/partitioned-log.js';
import { explain } from '../support/query-plan.js';

const PATIENT = { timeoutMs: 60_000 };
const NO_IDS = ['00000000-0000-0000-0000-000000000000', '00000000-0000-0000-0000-000000000000'];
const OLD = { olderThanMs: 7 * DAY_MS };

describe('retention row by row', { timeout: 90_000 }, () => {
  let app: OutboxApp;
  let retention: RetentionService;
  const apps: OutboxApp[] = [];
  const clients: pg.Client[] = [];
  beforeEach(async () => {
    app = await startOutboxApp();
    retention = app.module.get(RetentionService);
  });
  afterEach(async () => {
    for (const client of clients.splice(0)) await client.end();
    for (const replica of apps.splice(0)) await replica.close();
    await app.close();
  });

  const open = async (...statements: string[]): Promise<pg.Client> => {
    const client = new pg.Client(app.database.url);
    clients.push(client);
    await client.connect();
    for (const text of ['begin', ...statements]) await client.query(text);
    return client;
  };
  const logged = async (): Promise<number> => (await app.database.query('select from outbox_event')).length;
  const TURN = `select pg_advisory_xact_lock(hashtextextended('retention of "public"."outbox_event"', 0))`;

  it('goes in batches, whichever of three replicas is at it, while events are emitted, and leaves what is pending or dead', async () => {
    await logEvents(app, { daysAgo: 30, delivered: 2000, pending: 1, dead: 1 });
    await app.database.query('create table batch (replica int, events int)');
    await app.database.query(`create function note() returns trigger language plpgsql as
      'begin insert into batch select pg_backend_pid(), count(*) from gone; return null; end'`);
    await app.database.query(`create trigger note after delete on outbox_event referencing old table as gone
      for each statement execute function note()`);
    for (let more = 0; more < 2; more += 1) apps.push(await startOutboxApp({ database: app.database }));
    const replicas = [app, ...apps].map(({ module }) => module.get(RetentionService));
    const emits = emitConstantly(app);
    let events = 0;
    await eventually(async () => {
      for (const rows of await Promise.all(replicas.map((replica) => replica.prune({ ...OLD, batchSize: 100 }))))
        events += rows.events;
      expect(events).toBe(2000);
    }, PATIENT);
    const orders = await emits.stop();
    expect(await app.database.query('select max(events), sum(events)::int from batch')).toEqual([
      { max: 100, sum: 2000 },
    ]);
    expect(await logged()).toBe(orders.length + 2);
    expect(await app.dispatcher.drain()).toMatchObject({ delivered: orders.length + 1 });
  });

  it('a replica that meets another one at it does nothing, and says so', async () => {
    await logEvents(app, { daysAgo: 30, delivered: 10 });
    const other = await open(TURN);
    expect(await retention.prune(OLD)).toEqual({ deliveries: 0, events: 0, yielded: true });
    expect(await logged()).toBe(10);
    await other.query('rollback');
    expect(await retention.prune(OLD)).toEqual({ deliveries: 0, events: 10, yielded: false });
  });

  it('waits for a lock no longer than it may, and keeps nobody waiting meanwhile', async () => {
    await logEvents(app, { daysAgo: 30, delivered: 10 });
    const other = await open('lock table outbox_event in share row exclusive mode');
    await expect(retention.prune({ ...OLD, lockTimeoutMs: 50 })).rejects.toMatchObject({
      driverError: { code: '55P03' },
    });
    await other.query('rollback');
    expect(await retention.prune({ ...OLD, lockTimeoutMs: 50 })).toMatchObject({ events: 10 });
  });

  it('passes over rows that somebody has locked, and removes them the next time', async () => {
    await logEvents(app, { daysAgo: 30, delivered: 10 });
    const other = await open('select from outbox_event order by aggregateid limit 3 for update');
    expect(await retention.prune({ ...OLD, batchSize: 4 })).toMatchObject({ events: 7, yielded: false });
    await other.query('rollback');
    expect(await retention.prune({ ...OLD, batchSize: 4 })).toMatchObject({ events: 3 });
  });

  it('does not read what is young: not in the log, not before it drops a partition of it, not in the inbox', async () => {
    await logEvents(app, { daysAgo: 1, delivered: 20_000 });
    const { query, url } = app.database;
    await query(inboxSchemaSql());
    await query(`insert into processed_events (consumer_name, event_id, event_type, content_digest)
      select 'c', n::text, 't', '' from generate_series(1, 20000) n`);
    await query('vacuum (analyze)');
    const names = resolveInboxNames();
    const statements: [string, string, unknown[]][] = [
      ['outbox_event', pruneEventsSql(tableNames, tableNames.event), [OLD.olderThanMs, 1000, '(0,0)']],
      // Asked of a log that is not partitioned: of one of its tables it is the same.
      ['outbox_event', mustPartitionStaySql(tableNames, tableNames.event), [...NO_IDS, 3_600_000]],
      ['processed_events', pruneProcessedEventsSql(names), [OLD.olderThanMs, 1000]],
    ];
    for (const [table, text, values] of statements) {
      const [size] = await query<{ pages: number }>(
        `select relpages::int as pages from pg_class where relname = '${table}'`,
      );
      expect((await explain(url, text, values)).buffers, text).toBeLessThan((size?.pages ?? 0) / 2);
    }
  });

  it('stops behind the running batch when it is told to', async () => {
    await logEvents(app, { daysAgo: 30, delivered: 10 });
    await app.outbox.transaction(() => app.outbox.emit(noted(randomUUID())));
    expect(await retention.prune(OLD, AbortSignal.abort())).toEqual({ deliveries: 0, events: 0, yielded: false });
    expect(await logged()).toBe(11);
  });
});
