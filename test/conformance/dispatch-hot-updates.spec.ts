import { MemoryTransport } from 'nestjs-transactional-outbox/memory';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { BareDispatcher } from '../support/bare-dispatcher.js';
import { eventually } from '../support/eventually.js';
import { type OutboxQueue, startOutboxQueue } from '../support/outbox-queue.js';

/** As long as the host name of a container with a process id. */
const OWNER = 'orders-api-7d9c8b6f5d-x2x4q:1';
const UNORDERED = 2000;
const AGGREGATES = 40;
const STEPS = 25;
const EVENTS = UNORDERED + AGGREGATES * STEPS;

interface Updates {
  readonly updates: number;
  readonly hot: number;
}

describe('the claims of 3,000 events', () => {
  let queue: OutboxQueue;
  beforeEach(async () => {
    queue = await startOutboxQueue();
    for (let round = 0; round < 10; round += 1) await queue.emitUnordered(UNORDERED / 10);
    for (let aggregate = 0; aggregate < AGGREGATES; aggregate += 1) await queue.emitOrdered(`o${aggregate}`, STEPS);
  });
  afterEach(() => queue.close());

  it('update their rows in place, without an index entry, at least 95 of 100 times', async () => {
    const dispatchers = [1, 2].map(
      () => new BareDispatcher({ store: queue.openStore(), transport: new MemoryTransport(), owner: OWNER }),
    );
    await Promise.all(dispatchers.map((dispatcher) => dispatcher.drain()));
    expect(await queue.deliveries()).toEqual([]);
    // Sessions report what they did after a while; with completion "delete" every update of the queue is a claim.
    const counted = await eventually(async () => {
      const [row] = await queue.database.query<Updates & Record<string, unknown>>(
        `select n_tup_upd::int as updates, n_tup_hot_upd::int as hot from pg_stat_user_tables
         where relname = 'outbox_delivery'`,
      );
      expect(row?.updates).toBeGreaterThanOrEqual(EVENTS);
      return row;
    });
    expect(Number(counted?.hot) / Number(counted?.updates)).toBeGreaterThanOrEqual(0.95);
  });
});
