import { randomUUID } from 'node:crypto';
import { Logger } from '@nestjs/common';
import { InboxModule, InboxService, PartitionService, RetentionService } from 'nestjs-transactional-outbox';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { resolveOptions } from '../../libs/outbox/src/config/index.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { noted, type OutboxApp, type OutboxAppOptions, startOutboxApp } from '../support/outbox-app.js';
import { DAY_MS, logEvents, makeDay, partitionOf, partitionsOf } from '../support/partitioned-log.js';

const WEEK_MS = 7 * DAY_MS;
const OFTEN = { everyMs: 100 };

describe('retention by itself', () => {
  let database: TestDatabase;
  let said: string[];
  const apps: OutboxApp[] = [];
  beforeEach(async () => {
    database = await createTestDatabase();
    said = [];
    for (const level of ['log', 'warn', 'error'] as const) {
      vi.spyOn(Logger.prototype, level).mockImplementation((message: unknown) => {
        if (/retention|partition/i.test(String(message))) said.push(`${level}: ${message}`);
      });
    }
  });
  afterEach(async () => {
    for (const app of apps.splice(0).reverse()) await app.close();
    vi.restoreAllMocks();
    await database.drop();
  });

  const start = async (
    outbox: OutboxAppOptions['outbox'],
    imports: OutboxAppOptions['imports'] = [],
  ): Promise<OutboxApp> => {
    const app = await startOutboxApp({ database, imports, ...(outbox === undefined ? {} : { outbox }) });
    apps.push(app);
    return app;
  };
  const logged = async (): Promise<number> => (await database.query('select from outbox_event')).length;

  it('removes what is old, again and again, in processes with a dispatcher, until the application ends', async () => {
    const emitting = await start({ dispatcher: { enabled: false }, retention: { deliveredForMs: WEEK_MS, ...OFTEN } });
    const idle = vi.spyOn(emitting.module.get(RetentionService), 'enforce');
    const dispatching = await start({ retention: { deliveredForMs: WEEK_MS, ...OFTEN } });
    for (let time = 1; time <= 2; time += 1) {
      await logEvents(emitting, { daysAgo: 20, delivered: 5 });
      await eventually(async () => expect(await logged()).toBe(0));
    }
    // A run may have met both.
    const removed = () => said.flatMap((line) => /retention deliveries=0 events=(\d+) /.exec(line)?.slice(1) ?? []);
    await eventually(() => expect(removed().reduce((sum, events) => sum + Number(events), 0)).toBe(10));
    await dispatching.close();
    apps.pop();
    await logEvents(emitting, { daysAgo: 20, delivered: 5 });
    expect(await logged()).toBe(5);
    expect(idle).not.toHaveBeenCalled();
  });

  it('makes and drops partitions, and tells of one that has to stay once', async () => {
    const first = await start({});
    await first.module.get(PartitionService).partition();
    await makeDay(first, 21);
    await makeDay(first, 20);
    await logEvents(first, { daysAgo: 21, delivered: 5 });
    await logEvents(first, { daysAgo: 20, delivered: 5, dead: 1 });
    const dispatching = await start({ retention: { deliveredForMs: WEEK_MS, aheadDays: 9, ...OFTEN } });
    await eventually(async () => expect(await partitionsOf(first)).not.toContain(partitionOf(21)));
    await eventually(async () => expect(await partitionsOf(first)).toContain(partitionOf(-9)));
    const stays = () => said.filter((line) => line.includes('partition stays'));
    await eventually(() => expect(stays()).toHaveLength(1));
    const runs = vi.spyOn(dispatching.module.get(PartitionService), 'maintain');
    await eventually(() => expect(runs.mock.calls.length).toBeGreaterThan(2));
    await database.query('update outbox_delivery set status = 0');
    await eventually(() => expect(stays()).toHaveLength(2));
    expect(stays()).toEqual([
      `warn: partition stays partition="${partitionOf(20)}" reason="1 dead letters"`,
      `warn: partition stays partition="${partitionOf(20)}" reason="1 undelivered"`,
    ]);
  });

  it('says once that it fails, however often, and that it works again', async () => {
    const app = await start({ retention: { deliveredForMs: WEEK_MS, ...OFTEN } });
    await logEvents(app, { daysAgo: 20, delivered: 5 });
    await eventually(async () => expect(await logged()).toBe(0));
    await database.query('alter table outbox_delivery_archive rename to gone');
    await eventually(() =>
      expect(said.some((line) => line.startsWith('error: retention failed, trying again'))).toBe(true),
    );
    const attempts = vi.spyOn(app.dataSource, 'transaction');
    await eventually(() => expect(attempts.mock.calls.length).toBeGreaterThan(2));
    await database.query('alter table gone rename to outbox_delivery_archive');
    await eventually(() => expect(said).toContain('log: retention works again'));
    expect(said.filter((line) => line.startsWith('error'))).toHaveLength(1);
  });

  it('prunes the inbox likewise', async () => {
    const inbox = InboxModule.forRoot({
      allowUnsigned: true,
      migrate: 'auto',
      dedupeWindowMs: 2 * DAY_MS,
      longestRedeliveryMs: DAY_MS,
      retention: OFTEN,
    });
    const app = await start({}, [inbox]);
    for (const id of ['old', 'young']) {
      await app.module
        .get(InboxService)
        .process({ consumer: 'c', event: { id, type: 't', payload: {} } }, async () => undefined);
    }
    await database.query(`update processed_events set processed_at = now() - interval '3 days' where event_id = 'old'`);
    await eventually(async () =>
      expect(await database.query('select event_id from processed_events')).toEqual([{ event_id: 'young' }]),
    );
  });

  it('warns at the start, with the sum, when an event may be on its way for longer than it is kept', async () => {
    const app = await start({ retention: { deliveredForMs: DAY_MS } });
    await app.outbox.transaction(() => app.outbox.emit(noted(randomUUID())));
    expect(said).toEqual([
      expect.stringContaining(
        'warn: "retention.deliveredForMs" (86400000) is less than an event may be on its way to "memory" (608100000 = "maxDeferAgeMs" 604800000 + 11 retries × "retryCapMs" 300000)',
      ),
    ]);
  });

  it.each([
    [{ deliveredForMs: 0 }, /retention\.deliveredForMs is 0; it must be a whole number from 1000/],
    [{ deliveredForMs: WEEK_MS, everyMs: 99 }, /retention\.everyMs is 99/],
    [{ deliveredForMs: WEEK_MS, batchSize: 0 }, /retention\.batchSize is 0/],
    [{ deliveredForMs: WEEK_MS, lockTimeoutMs: 0 }, /retention\.lockTimeoutMs is 0/],
    [{ deliveredForMs: WEEK_MS, aheadDays: 61 }, /retention\.aheadDays is 61/],
    [{} as { deliveredForMs: number }, /"retention" has no "deliveredForMs"/], // as from JavaScript
  ])('refuses %j', (retention, message) => {
    expect(() => resolveOptions({ destinations: {}, routes: [], retention })).toThrow(message);
  });
});
