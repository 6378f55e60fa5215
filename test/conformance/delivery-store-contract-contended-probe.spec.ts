import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  DESTINATION,
  mustClaim,
  type OutboxQueue,
  type QueueStore,
  startOutboxQueue,
} from '../support/outbox-queue.js';
import { claimRequest } from './delivery-store-contract-harness.js';

describe('a probe that meets another dispatcher at the only lane with work', () => {
  let queue: OutboxQueue;
  let store: QueueStore;
  beforeEach(async () => {
    queue = await startOutboxQueue();
    store = queue.openStore();
  });
  afterEach(() => queue.close());

  it('is told to give the probe back, so that the destination is not left alone for a whole lease', async () => {
    await queue.emitOrdered(randomUUID(), 1);
    const pause = { destination: DESTINATION, isProbe: false, baseMs: 0, capMs: 0, jitter: 1, error: 'refused' };
    await store.breakers.trip(pause);
    const request = claimRequest({ destination: DESTINATION, leaseMs: 600_000 });

    await queue.dataSource.transaction(async (manager) => {
      await manager.query('update outbox_lane set revision = revision + 1');
      expect(await store.claim(request)).toEqual({ kind: 'nothing', isProbe: true });
    });

    await store.breakers.giveProbeBack(DESTINATION);
    expect((await mustClaim(store)).isProbe).toBe(true);
  });
});
