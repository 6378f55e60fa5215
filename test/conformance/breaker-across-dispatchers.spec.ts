import { randomUUID } from 'node:crypto';
import type { OutgoingEvent, PublishOutcome } from 'nestjs-transactional-outbox';
import { MemoryTransport } from 'nestjs-transactional-outbox/memory';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { eventually } from '../support/eventually.js';
import { noted, OrderNoted, OrderStep, type OutboxApp, startOutboxApp, step } from '../support/outbox-app.js';

const EVENTS = 200;

describe('three dispatchers and a destination that cannot be reached', () => {
  let apps: OutboxApp[];
  let calls: OutgoingEvent[];
  let isDown: boolean;
  let other: MemoryTransport;

  beforeEach(async () => {
    apps = [];
    calls = [];
    isDown = true;
    other = new MemoryTransport();
  });
  afterEach(async () => {
    for (const app of apps.reverse()) await app.close();
  });

  const respond = (event: OutgoingEvent): PublishOutcome => {
    calls.push(event);
    return isDown ? { kind: 'unreachable', error: 'connection refused' } : { kind: 'delivered' };
  };
  const start = async (replicas: number, pauseMs: number): Promise<OutboxApp> => {
    for (let replica = 0; replica < replicas; replica += 1) {
      apps.push(
        await startOutboxApp({
          database: apps[0]?.database,
          outbox: {
            destinations: {
              down: {
                transport: new MemoryTransport({ respond }),
                maxAttempts: 2,
                pauseBaseMs: pauseMs,
                pauseCapMs: pauseMs,
                batchSize: 10,
              },
              other: { transport: other },
            },
            routes: [
              { events: [OrderStep], to: ['down'] },
              { events: [OrderNoted], to: ['down', 'other'] },
            ],
            dispatcher: { schedule: 'loop', pollIntervalMs: 20 },
          },
        }),
      );
    }
    const [first] = apps;
    if (first === undefined) throw new Error('no replica was asked for');
    return first;
  };
  const emit = (app: OutboxApp, events: object[]): Promise<string[]> =>
    app.outbox.transaction(() => app.outbox.emit(events));
  const failures = async (app: OutboxApp): Promise<number> => {
    const [row] = await app.database.query<{ failures: number }>(
      "select failures from outbox_destination where destination = 'down'",
    );
    return row?.failures ?? 0;
  };

  it('probe it with one event at a time, whatever their number', async () => {
    const app = await start(3, 60);
    await emit(
      app,
      Array.from({ length: EVENTS }, () => noted(randomUUID())),
    );
    await eventually(async () => expect(await failures(app)).toBeGreaterThanOrEqual(8));
    // At most the batches that were on their way when it began, then one call for each probe.
    const counted = await failures(app);
    expect(calls.length).toBeLessThanOrEqual(3 * 2 * 10 + counted);
    const [row] = await app.database.query<{ highest: number }>(
      "select max(attempts)::int as highest from outbox_delivery where destination = 'down'",
    );
    expect(row?.highest).toBeLessThanOrEqual(1);
  });

  it('deliver to the other destinations meanwhile', async () => {
    const app = await start(3, 60_000);
    await emit(
      app,
      Array.from({ length: EVENTS }, () => noted(randomUUID())),
    );
    await other.waitForCount(EVENTS, 10_000);
    expect(await failures(app)).toBe(1);
  });

  it('deliver everything once it is back, in order, without a dead letter', async () => {
    const app = await start(3, 60);
    const orders = Array.from({ length: 20 }, () => randomUUID());
    for (const number of [1, 2, 3])
      await emit(
        app,
        orders.map((order) => step(order, number)),
      );
    await eventually(async () => expect(await failures(app)).toBeGreaterThanOrEqual(4));
    calls.length = 0;
    isDown = false;
    await eventually(async () => {
      expect(await app.database.query('select id from outbox_delivery')).toEqual([]);
    });
    const delivered = calls.map(({ envelope }) => envelope);
    for (const order of orders) {
      const sequences = delivered.filter(({ aggregateId }) => aggregateId === order).map(({ sequence }) => sequence);
      expect(sequences).toEqual([1n, 2n, 3n]);
    }
    expect(await failures(app)).toBe(0);
  });
});
