import { describe, expect, it } from 'vitest';
import {
  claimRequest,
  finalization,
  idsOf,
  mustClaim,
  nothing,
  OTHER_DESTINATION,
  rescheduled,
  type StoreUnderTest,
} from './delivery-store-contract-harness.js';

export function describeClaims(store: () => StoreUnderTest): void {
  describe('a claim', () => {
    it('finds nothing in an empty queue, nor for a destination that was not prepared', async () => {
      await store().emit({ destination: 'unknown' });
      expect(await store().deliveries.claim(claimRequest())).toEqual(nothing);
      expect(await store().deliveries.claim(claimRequest({ destination: 'unknown' }))).toEqual(nothing);
    });

    it('takes what is due, oldest first, with its event, its age and one more attempt', async () => {
      const ids = await store().emit({}, { aggregate: 'a' }, {});
      await store().passTime(50);
      const claim = await mustClaim(store());
      expect(idsOf(claim)).toEqual(ids);
      expect(claim.deliveries.map(({ attempts }) => attempts)).toEqual([1, 1, 1]);
      expect(claim.deliveries.map(({ ageMs }) => ageMs)).toEqual([50, 50, 50]);
      expect(claim.deliveries.map(({ orderingKey }) => orderingKey === undefined)).toEqual([true, false, true]);
      expect(claim.deliveries.map(({ envelope }) => envelope?.type)).toEqual(['tested', 'tested', 'tested']);
      expect(claim.reaped).toEqual([]);
      expect(claim.isProbe).toBe(false);
    });

    it('leases all of it under one token, until its time is over by the clock of the store', async () => {
      await store().emit({}, { aggregate: 'a' });
      const { token, lane } = await mustClaim(store(), { leaseMs: 1000 });
      const { deliveries, lanes } = await store().state();
      const leaseUntil = store().now() + 1000;
      expect(deliveries).toMatchObject([
        { status: 'pending', token, leaseUntil },
        { status: 'pending', token, leaseUntil },
      ]);
      expect(lanes).toMatchObject([{ lane, token, leaseUntil }]);
    });

    it('takes nothing that is leased, up to the last moment of the lease', async () => {
      const ids = await store().emit({}, { aggregate: 'a' });
      const first = await mustClaim(store(), { leaseMs: 1000 });
      await store().passTime(1000);
      expect(await store().deliveries.claim(claimRequest())).toEqual(nothing);
      await store().passTime(1);
      const second = await mustClaim(store());
      expect(idsOf(second)).toEqual(ids);
      expect(second.deliveries.map(({ attempts }) => attempts)).toEqual([2, 2]);
      expect(BigInt(second.token)).toBeGreaterThan(BigInt(first.token));
    });

    it('takes no more than batchSize of ordered and of unordered ones each', async () => {
      const ids = await store().emit({}, {}, {}, { aggregate: 'a' }, { aggregate: 'a' }, { aggregate: 'a' });
      const claim = await mustClaim(store(), { batchSize: 2 });
      expect(idsOf(claim)).toEqual([ids[0], ids[1], ids[3], ids[4]]);
    });

    it('takes no more than batchBytes of each, but the first one whatever its size', async () => {
      const large = { bytes: 5000 };
      const ids = await store().emit(
        large,
        { bytes: 1 },
        { bytes: 40, aggregate: 'a' },
        { bytes: 70, aggregate: 'a' },
        {
          bytes: 1,
          aggregate: 'a',
        },
      );
      expect(idsOf(await mustClaim(store(), { batchBytes: 100 }))).toEqual([ids[0], ids[2], ids[3]]);
    });

    it('prefers what has been due for longest among unordered ones', async () => {
      const [first = '', second = ''] = await store().emit({}, {});
      const claim = await mustClaim(store(), { batchSize: 1 });
      expect(idsOf(claim)).toEqual([first]);
      await store().deliveries.finalize(claim, rescheduled(first, 5));
      await store().passTime(5);
      expect(idsOf(await mustClaim(store(), { batchSize: 1 }))).toEqual([second]);
    });

    it('tells how far it came, unless it left nothing unordered that is due', async () => {
      const emittedAtUs = store().now() * 1000;
      await store().emit({ bytes: 90 }, { bytes: 90 }, { bytes: 90 });
      const limited = await mustClaim(store(), { batchSize: 1 });
      expect(limited.lastUs).toBe(emittedAtUs);
      await store().passTime(3);
      await store().emit({ bytes: 90 });
      const short = await mustClaim(store(), { batchBytes: 100 });
      expect([idsOf(short).length, short.lastUs]).toEqual([2, emittedAtUs]);
      expect((await mustClaim(store())).lastUs).toBeUndefined();
    });

    it('skips unordered deliveries that are older than where it is told to look from, and no ordered ones', async () => {
      await store().emit({});
      const ordered = await store().emit({ aggregate: 'a' });
      await store().passTime(2);
      const later = await store().emit({});
      expect(idsOf(await mustClaim(store(), { fromUs: store().now() * 1000 }))).toEqual([...ordered, ...later]);
    });

    it('that finds nothing tells when the next retry is due, of ordered and unordered ones', async () => {
      const [unordered = '', ordered = ''] = await store().emit({}, { aggregate: 'a' });
      const claim = await mustClaim(store());
      const outcomes = [
        { id: unordered, delayMs: 700, refundAttempt: false, error: 'failed' },
        { id: ordered, delayMs: 400, refundAttempt: false, error: 'failed' },
      ];
      await store().deliveries.finalize(claim, finalization({ rescheduled: outcomes }));
      await store().passTime(100);
      expect(await store().deliveries.claim(claimRequest())).toEqual({ ...nothing, nextDueMs: 300 });
      await store().passTime(300);
      expect(idsOf(await mustClaim(store()))).toEqual([ordered]);
      expect(await store().deliveries.claim(claimRequest())).toEqual({ ...nothing, nextDueMs: 300 });
    });

    it('takes deliveries of its own destination only', async () => {
      const [own = '', others = ''] = await store().emit({}, { destination: OTHER_DESTINATION });
      expect(idsOf(await mustClaim(store()))).toEqual([own]);
      expect(idsOf(await mustClaim(store(), { destination: OTHER_DESTINATION }))).toEqual([others]);
    });
  });

  describe('a delivery whose last lease ended without an outcome', () => {
    const lose = async (claims: number): Promise<void> => {
      for (let count = 0; count < claims; count += 1) {
        await mustClaim(store(), { leaseMs: 1000, maxAttempts: 2 });
        await store().passTime(1001);
      }
    };

    it('becomes a dead letter at the next claim, and spends no attempt more', async () => {
      const [id] = await store().emit({});
      await lose(2);
      const { reaped, deliveries } = await mustClaim(store(), { maxAttempts: 2 });
      expect(reaped).toMatchObject([{ id, attempts: 2, type: 'tested', orderingKey: undefined }]);
      expect(deliveries).toEqual([]);
      expect((await store().state()).deliveries).toMatchObject([{ status: 'dead', attempts: 2, holdsKey: false }]);
    });

    it('holds its followers, which are not taken with it, until it is unblocked', async () => {
      const [first = '', second] = await store().emit({ aggregate: 'a' });
      await lose(2);
      expect(second).toBeUndefined();
      const [follower] = await store().emit({ aggregate: 'a' });
      const claim = await mustClaim(store(), { maxAttempts: 2 });
      expect(claim.reaped.map(({ id }) => id)).toEqual([first]);
      expect(idsOf(claim)).toEqual([]);
      await store().deliveries.finalize(claim, finalization({}));
      expect(await store().deliveries.claim(claimRequest())).toEqual(nothing);
      await store().deliveries.unblock([first]);
      expect(idsOf(await mustClaim(store()))).toEqual([follower]);
    });

    it('is done after all when the success of its last claim comes late', async () => {
      const [id = ''] = await store().emit({ aggregate: 'a' });
      const last = await mustClaim(store(), { leaseMs: 1000, maxAttempts: 1 });
      await store().passTime(1001);
      await mustClaim(store(), { maxAttempts: 1 });
      expect(await store().deliveries.finalize(last, finalization({ delivered: [id] }))).toBe(0);
      expect((await store().state()).deliveries).toEqual([]);
    });

    it('stays dead when anything else comes late', async () => {
      const [id = ''] = await store().emit({});
      const last = await mustClaim(store(), { leaseMs: 1000, maxAttempts: 1 });
      await store().passTime(1001);
      await mustClaim(store(), { maxAttempts: 1 });
      const before = await store().state();
      expect(await store().deliveries.finalize(last, rescheduled(id, 10, { refund: true }))).toBe(1);
      expect(await store().deliveries.finalize(last, finalization({ released: [id] }))).toBe(1);
      expect(await store().deliveries.renew(last, [id], 1000)).toBe(0);
      expect(await store().state()).toEqual(before);
    });
  });
}
