import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { DeliveryStore } from '../../libs/outbox/src/store/index.js';
import { eventually } from '../support/eventually.js';
import {
  finalization,
  idsOf,
  mustClaim,
  type OutboxQueue,
  startOutboxQueue,
  tryClaim,
} from '../support/outbox-queue.js';

describe('a dispatcher that crashed after its claim', () => {
  let queue: OutboxQueue;
  let crashed: DeliveryStore;
  let successor: DeliveryStore;
  beforeEach(async () => {
    queue = await startOutboxQueue();
    [crashed, successor] = [queue.openStore(), queue.openStore()];
  });
  afterEach(() => queue.close());

  it('is succeeded when its lease ends, under a higher token, and its late outcome changes nothing', async () => {
    await queue.emitUnordered(1);
    const stale = await mustClaim(crashed, { leaseMs: 1000 });
    expect(await tryClaim(successor)).toBeUndefined();

    const current = await eventually(() => mustClaim(successor));
    expect(idsOf(current)).toEqual(idsOf(stale));
    expect(BigInt(current.token)).toBeGreaterThan(BigInt(stale.token));
    expect(current.deliveries[0]?.attempts).toBe(2);

    const before = await queue.database.query('select * from outbox_delivery');
    const [id = ''] = idsOf(stale);
    expect(await crashed.finalize(stale, finalization({ delivered: [id] }))).toBe(1);
    expect(await crashed.finalize(stale, finalization({ dead: [{ id, error: 'late', blocksKey: true }] }))).toBe(1);
    expect(await crashed.finalize(stale, finalization({ released: [id] }))).toBe(1);
    const rescheduled = [{ id, delayMs: 1, refundAttempt: true, error: 'late' }];
    expect(await crashed.finalize(stale, finalization({ rescheduled }))).toBe(1);
    expect(await crashed.renew(stale, [id], 60_000)).toBe(0);
    expect(await queue.database.query('select * from outbox_delivery')).toEqual(before);

    expect(await successor.finalize(current, finalization({ delivered: [id] }))).toBe(0);
    expect(await queue.deliveries()).toEqual([]);
  });

  it('is succeeded in its lane too, and its late outcomes move nothing of that lane', async () => {
    await queue.emitOrdered(randomUUID(), 3);
    const stale = await mustClaim(crashed);
    expect(await tryClaim(successor)).toBeUndefined();
    await queue.expireLeases();
    const current = await mustClaim(successor, { batchSize: 1 });
    expect(current.lane).toBe(stale.lane);
    const [first = '', second = '', third = ''] = idsOf(stale);
    expect(idsOf(current)).toEqual([first]);

    const before = await queue.database.query('select * from outbox_delivery order by id');
    const lanes = await queue.database.query('select * from outbox_lane order by lane');
    const late = finalization({
      rescheduled: [{ id: second, delayMs: 60_000, refundAttempt: false, error: 'late' }],
      dead: [{ id: third, error: 'late', blocksKey: true }],
      released: [first],
    });
    expect(await crashed.finalize(stale, late)).toBe(3);
    expect(await crashed.renew(stale, idsOf(stale), 60_000)).toBe(0);
    expect(await queue.database.query('select * from outbox_delivery order by id')).toEqual(before);
    expect(await queue.database.query('select * from outbox_lane order by lane')).toEqual(lanes);
  });

  it('may still finalize after its lease when nobody took over', async () => {
    await queue.emitUnordered(1);
    await queue.emitOrdered(randomUUID(), 1);
    const claim = await mustClaim(crashed);
    await queue.expireLeases();
    expect(await crashed.finalize(claim, finalization({ delivered: idsOf(claim) }))).toBe(0);
    expect(await queue.deliveries()).toEqual([]);
    expect(await queue.database.query('select lane from outbox_lane where lease_until is not null')).toEqual([]);
  });

  it('three times leaves a dead letter after three attempts, which is never claimed again', async () => {
    await queue.emitUnordered(1);
    for (let attempt = 1; attempt <= 3; attempt += 1) {
      expect((await mustClaim(crashed)).deliveries).toMatchObject([{ attempts: attempt }]);
      await queue.expireLeases();
    }
    const reaping = await mustClaim(successor);
    expect(reaping.deliveries).toEqual([]);
    expect(reaping.reaped).toMatchObject([{ attempts: 3 }]);
    expect(await queue.deliveries()).toMatchObject([{ status: 1, attempts: 3, hasLease: false }]);
    expect(await tryClaim(successor)).toBeUndefined();
  });

  it('and was reaped may still report its success, under its own token only', async () => {
    await queue.emitUnordered(1);
    const first = await mustClaim(crashed, { maxAttempts: 2 });
    await queue.expireLeases();
    const last = await mustClaim(crashed, { maxAttempts: 2 });
    await queue.expireLeases();
    await mustClaim(successor, { maxAttempts: 2 });
    expect(await queue.deliveries()).toMatchObject([{ status: 1 }]);

    expect(await crashed.finalize(first, finalization({ delivered: idsOf(first) }))).toBe(1);
    expect(await queue.deliveries()).toMatchObject([{ status: 1 }]);
    expect(await crashed.finalize(last, finalization({ delivered: idsOf(last) }))).toBe(0);
    expect(await queue.deliveries()).toEqual([]);
  });
});

describe('a finalize or a renewal that comes once more', () => {
  let queue: OutboxQueue;
  let store: DeliveryStore;
  beforeEach(async () => {
    queue = await startOutboxQueue();
    store = queue.openStore();
  });
  afterEach(() => queue.close());

  it('refunds an attempt once, although the answer to the first finalize was lost', async () => {
    await queue.emitUnordered(1);
    await queue.emitOrdered(randomUUID(), 1);
    const claim = await mustClaim(store);
    const outcomes = finalization({
      rescheduled: idsOf(claim).map((id) => ({ id, delayMs: 60_000, refundAttempt: true, error: 'not yet' })),
    });
    await store.finalize(claim, outcomes);
    await store.finalize(claim, outcomes);
    expect(await queue.deliveries()).toMatchObject([{ attempts: 0 }, { attempts: 0 }]);
  });

  it('does not take back a lane that was given back', async () => {
    await queue.emitOrdered(randomUUID(), 2);
    const claim = await mustClaim(store, { batchSize: 1 });
    await store.finalize(claim, finalization({ delivered: idsOf(claim) }));
    await store.renew(claim, idsOf(claim), 60_000);
    expect((await mustClaim(store)).deliveries).toHaveLength(1);
  });

  it('keeps the lease that the claim has while it is held', async () => {
    await queue.emitUnordered(1);
    await queue.emitOrdered(randomUUID(), 1);
    const claim = await mustClaim(store);
    await queue.expireLeases();
    expect(await store.renew(claim, idsOf(claim), 60_000)).toBe(2);
    expect(await tryClaim(queue.openStore())).toBeUndefined();
  });
});
