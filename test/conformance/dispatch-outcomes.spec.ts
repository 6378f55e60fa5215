import type { PublishOutcome } from 'nestjs-transactional-outbox';
import { MemoryTransport } from 'nestjs-transactional-outbox/memory';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { delivered } from '../../libs/outbox/src/transports/index.js';
import { BareDispatcher, type BareDispatcherOptions } from '../support/bare-dispatcher.js';
import { type OutboxQueue, startOutboxQueue } from '../support/outbox-queue.js';

const DAY_MS = 86_400_000;

describe('an event that is', () => {
  let queue: OutboxQueue;
  let answer: PublishOutcome;
  let transport: MemoryTransport;
  beforeEach(async () => {
    queue = await startOutboxQueue();
    transport = new MemoryTransport({ respond: () => answer });
    await queue.emitUnordered(1);
  });
  afterEach(() => queue.close());

  const dispatcher = (options: Partial<BareDispatcherOptions> = {}): BareDispatcher =>
    new BareDispatcher({ store: queue.openStore(), transport, ...options });

  it('delivered is gone from the queue', async () => {
    answer = delivered;
    expect(await dispatcher().drain()).toMatchObject({ delivered: 1, retried: 0, dead: 0, leaseLost: 0 });
    expect(await queue.deliveries()).toEqual([]);
  });

  it('already there counts as delivered', async () => {
    answer = { kind: 'delivered', duplicate: true };
    expect(await dispatcher().drain()).toMatchObject({ delivered: 1 });
    expect(await queue.deliveries()).toEqual([]);
  });

  it('refused for the moment three times with three attempts ends as a dead letter with three attempts', async () => {
    answer = { kind: 'retry', error: 'busy' };
    const dispatching = dispatcher({ maxAttempts: 3, retryBaseMs: DAY_MS, retryCapMs: DAY_MS });
    for (const attempts of [1, 2]) {
      expect(await dispatching.drain()).toMatchObject({ retried: 1, dead: 0 });
      const [waiting] = await queue.deliveries();
      expect(waiting).toMatchObject({ status: 0, attempts, hasLease: false, error: 'busy' });
      await queue.makeDue();
    }
    expect(await dispatching.drain()).toMatchObject({ retried: 0, dead: 1 });
    expect(await queue.deliveries()).toMatchObject([
      { status: 1, attempts: 3, hasLease: false, error: 'retries exhausted after 3: busy' },
    ]);
    await queue.makeDue();
    expect(await dispatching.dispatchOnce()).toBeUndefined();
    expect(transport.received.map(({ attempt }) => attempt)).toEqual([1, 2, 3]);
  });

  it('deferred has spent no attempt and comes back after the time asked for', async () => {
    answer = { kind: 'defer', reason: 'no account yet', delayMs: 90_000 };
    expect(await dispatcher().drain()).toMatchObject({ deferred: 1, retried: 0 });
    const [waiting] = await queue.deliveries();
    expect(waiting).toMatchObject({ status: 0, attempts: 0, hasLease: false, error: 'deferred: no account yet' });
    expect(waiting?.dueInMs).toBeGreaterThan(60_000);
    expect(waiting?.dueInMs).toBeLessThanOrEqual(90_000);

    await queue.makeDue();
    answer = delivered;
    expect(await dispatcher().drain()).toMatchObject({ delivered: 1 });
    expect(transport.received.map(({ attempt }) => attempt)).toEqual([1, 1]);
  });

  it('deferred beyond its age becomes a dead letter, by the age in the database', async () => {
    answer = { kind: 'defer', reason: 'no account yet', delayMs: 1 };
    const dispatching = dispatcher({ maxDeferAgeMs: DAY_MS });
    await queue.database.query(`update outbox_delivery set created_at = now() - interval '23 hours'`);
    expect(await dispatching.dispatchOnce()).toMatchObject({ deferred: 1, dead: 0 });
    await queue.database.query(
      `update outbox_delivery set created_at = now() - interval '25 hours', available_at = now()`,
    );
    expect(await dispatching.dispatchOnce()).toMatchObject({ deferred: 0, dead: 1 });
    expect(await queue.deliveries()).toMatchObject([
      { status: 1, attempts: 1, error: `deferred for longer than ${DAY_MS} ms: no account yet` },
    ]);
  });

  it.each([
    ['is no number', Number.NaN],
    ['has no end', Number.POSITIVE_INFINITY],
    ['is longer than PostgreSQL can add', 1e300],
    ['is nothing', 0],
    ['lies in the past', -5],
  ])('deferred by a time that %s still comes back, and does not go round at once', async (_what, delayMs) => {
    answer = { kind: 'defer', reason: 'nonsense', delayMs };
    await dispatcher({ maxDeferAgeMs: DAY_MS, retryBaseMs: 5000, retryCapMs: 5000 }).dispatchOnce();
    const [waiting] = await queue.deliveries();
    expect(waiting).toMatchObject({ status: 0, attempts: 0, hasLease: false });
    expect(waiting?.dueInMs).toBeLessThanOrEqual(DAY_MS);
    expect(waiting?.dueInMs).toBeGreaterThan(3000);
  });

  it('refused for good is a dead letter at once', async () => {
    answer = { kind: 'dead', error: 'no such customer' };
    expect(await dispatcher().drain()).toMatchObject({ dead: 1 });
    expect(await queue.deliveries()).toMatchObject([{ status: 1, attempts: 1, error: 'no such customer' }]);
    expect(transport.received).toHaveLength(1);
  });

  it('not tried has spent no attempt and is there at once', async () => {
    answer = { kind: 'held' };
    expect(await dispatcher().dispatchOnce()).toMatchObject({ released: 1 });
    const [waiting] = await queue.deliveries();
    expect(waiting).toMatchObject({ status: 0, attempts: 0, hasLease: false, error: null });
    expect(waiting?.dueInMs).toBeLessThanOrEqual(0);
  });
});
