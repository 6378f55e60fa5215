import { describe, expect, it } from 'vitest';
import {
  dead,
  finalization,
  idsOf,
  mustClaim,
  rescheduled,
  type StoreUnderTest,
} from './delivery-store-contract-harness.js';

export function describeOutcomes(store: () => StoreUnderTest): void {
  describe('a finalize', () => {
    it('ends every lease of the claim, whatever became of its deliveries', async () => {
      const [one = '', two = '', three = '', four = ''] = await store().emit(
        { aggregate: 'a' },
        { aggregate: 'a' },
        {},
        {},
      );
      const claim = await mustClaim(store());
      const outcomes = { delivered: [three], released: [two], dead: dead(four).dead, rescheduled: [] };
      expect(await store().deliveries.finalize(claim, { ...outcomes, ...pick(rescheduled(one, 250)) })).toBe(0);
      const { deliveries, lanes } = await store().state();
      expect(deliveries.map(({ id, status, leaseUntil }) => [id, status, leaseUntil])).toEqual([
        [one, 'pending', undefined],
        [two, 'pending', undefined],
        [four, 'dead', undefined],
      ]);
      expect(lanes.map(({ leaseUntil }) => leaseUntil)).toEqual([undefined]);
    });

    it('keeps the attempt of a retry, and gives that of a deferral and of a release back', async () => {
      const [retried = '', deferred = '', released = ''] = await store().emit({}, {}, {});
      const claim = await mustClaim(store());
      await store().deliveries.finalize(claim, {
        ...finalization({ released: [released] }),
        rescheduled: [
          { id: retried, delayMs: 100, refundAttempt: false, error: 'busy' },
          { id: deferred, delayMs: 200, refundAttempt: true, error: 'not yet' },
        ],
      });
      const now = store().now();
      expect((await store().state()).deliveries).toMatchObject([
        { id: retried, attempts: 1, availableAt: now + 100, error: 'busy' },
        { id: deferred, attempts: 0, availableAt: now + 200, error: 'not yet' },
        { id: released, attempts: 0, availableAt: now, error: undefined },
      ]);
    });

    it('that is written twice refunds once, moves nothing, and says what it did not find', async () => {
      const [one = '', two = '', three = ''] = await store().emit({ aggregate: 'a' }, {}, {});
      const claim = await mustClaim(store());
      const outcomes = { ...rescheduled(one, 100, { refund: true }), ...{ released: [two], delivered: [three] } };
      expect(await store().deliveries.finalize(claim, outcomes)).toBe(0);
      const written = await store().state();
      await store().passTime(10);
      expect(await store().deliveries.finalize(claim, outcomes)).toBe(3);
      expect(await store().state()).toEqual(written);
    });

    it('of an empty claim gives the lane back', async () => {
      await store().emit({ aggregate: 'a' });
      await mustClaim(store(), { leaseMs: 10, maxAttempts: 1 });
      await store().passTime(11);
      const reaping = await mustClaim(store(), { maxAttempts: 1 });
      expect(reaping.lane).toBeDefined();
      expect(await store().deliveries.finalize(reaping, finalization({}))).toBe(0);
      expect((await store().state()).lanes[0]?.leaseUntil).toBeUndefined();
    });
  });

  describe('a renewal', () => {
    it('extends the lease of what is named and of the lane, from now', async () => {
      const [one = '', two = ''] = await store().emit({ aggregate: 'a' }, {});
      const claim = await mustClaim(store(), { leaseMs: 1000 });
      await store().passTime(600);
      expect(await store().deliveries.renew(claim, [one], 1000)).toBe(1);
      await store().passTime(401);
      expect(idsOf(await mustClaim(store()))).toEqual([two]);
      expect((await store().state()).lanes[0]?.leaseUntil).toBe(store().now() - 401 + 1000);
    });

    it('revives a lease that has ended, as long as nobody has taken over', async () => {
      const ids = await store().emit({ aggregate: 'a' }, {});
      const claim = await mustClaim(store(), { leaseMs: 1000 });
      await store().passTime(2000);
      expect(await store().deliveries.renew(claim, ids, 1000)).toBe(2);
      expect((await store().state()).deliveries.map(({ leaseUntil }) => leaseUntil)).toEqual([
        store().now() + 1000,
        store().now() + 1000,
      ]);
    });

    it('that comes after the finalize leases nothing again', async () => {
      const ids = await store().emit({ aggregate: 'a' }, {});
      const claim = await mustClaim(store());
      await store().deliveries.finalize(claim, finalization({ released: ids }));
      const written = await store().state();
      expect(await store().deliveries.renew(claim, ids, 1000)).toBe(0);
      expect(await store().state()).toEqual(written);
    });
  });
}

const pick = ({ rescheduled: given }: ReturnType<typeof rescheduled>): { rescheduled: typeof given } => ({
  rescheduled: given,
});
