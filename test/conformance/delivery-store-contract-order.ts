import { describe, expect, it } from 'vitest';
import { byHand } from '../support/by-hand.js';
import {
  claimIn,
  claimRequest,
  dead,
  finalization,
  idsOf,
  mustClaim,
  nothing,
  rescheduled,
  type StoreUnderTest,
} from './delivery-store-contract-harness.js';

/** Two aggregates of different lanes, and one more of the lane of the first (their keys are hashes). */
const A = 'a';
const OTHER_LANE = 'b';
const SAME_LANE = 'a-22';

export function describeOrder(store: () => StoreUnderTest): void {
  describe('ordered deliveries', () => {
    it('are taken a lane at a time, and a second claim takes another lane', async () => {
      const [first, second, third] = await store().emit({ aggregate: A }, { aggregate: OTHER_LANE }, { aggregate: A });
      const one = await mustClaim(store());
      const other = await mustClaim(store());
      expect(new Set([one.lane, other.lane]).size).toBe(2);
      expect([idsOf(one), idsOf(other)].toSorted()).toEqual([[first, third], [second]].toSorted());
    });

    it('wait while their lane is leased, new ones and those of other aggregates too', async () => {
      await store().emit({ aggregate: A });
      await mustClaim(store());
      await store().emit({ aggregate: A }, { aggregate: SAME_LANE });
      expect(await store().deliveries.claim(claimRequest())).toEqual(nothing);
    });

    it('can be taken as soon as their lane was given back', async () => {
      const [first = ''] = await store().emit({ aggregate: A });
      const claim = await mustClaim(store());
      const later = await store().emit({ aggregate: A }, { aggregate: SAME_LANE });
      await store().deliveries.finalize(claim, finalization({ delivered: [first] }));
      const next = await mustClaim(store());
      expect(next.lane).toBe(claim.lane);
      expect(idsOf(next)).toEqual(later);
    });

    it('of the lane that was claimed longest ago come first', async () => {
      const [first = ''] = await store().emit({ aggregate: A });
      const claim = await mustClaim(store());
      await store().passTime(1);
      const [second] = await store().emit({ aggregate: A }, { aggregate: OTHER_LANE });
      await store().deliveries.finalize(claim, finalization({ delivered: [first] }));
      const next = await mustClaim(store());
      expect(next.lane).not.toBe(claim.lane);
      await store().passTime(1);
      expect(idsOf(await mustClaim(store()))).toEqual([second]);
    });

    it('stay behind one of their key that waits, and follow it when it is due again', async () => {
      const [first = '', second = '', other] = await store().emit(
        { aggregate: A },
        { aggregate: A },
        { aggregate: SAME_LANE },
      );
      const claim = await mustClaim(store(), { batchSize: 2 });
      await store().deliveries.finalize(claim, {
        ...rescheduled(first, 500),
        released: [second],
      });
      const meanwhile = await mustClaim(store());
      expect(idsOf(meanwhile)).toEqual([other]);
      await store().deliveries.finalize(meanwhile, finalization({ delivered: idsOf(meanwhile) }));
      await store().passTime(499);
      expect(await store().deliveries.claim(claimRequest())).toEqual({ ...nothing, nextDueMs: 1 });
      await store().passTime(1);
      expect(idsOf(await mustClaim(store()))).toEqual([first, second]);
    });

    it('stay behind one that a finalize reschedules, also for the claim that goes along with it', async () => {
      const [first = '', , other] = await store().emit({ aggregate: A }, { aggregate: A }, { aggregate: SAME_LANE });
      const claim = await mustClaim(store(), { batchSize: 1 });
      const { missed, answer } = await store().deliveries.finalizeAndClaim(
        claim,
        rescheduled(first, 500),
        claimRequest(),
      );
      expect(missed).toBe(0);
      expect(idsOf(claimIn(answer))).toEqual([other]);
    });

    it('are claimed again with the finalize that gives their lane back', async () => {
      const ids = await store().emit({ aggregate: A }, { aggregate: A });
      const claim = await mustClaim(store(), { batchSize: 1 });
      const { answer } = await store().deliveries.finalizeAndClaim(
        claim,
        finalization({ delivered: idsOf(claim) }),
        claimRequest(),
      );
      expect(idsOf(claimIn(answer))).toEqual(ids.slice(1));
    });

    it('stay behind a dead letter of their key that blocks it, until it is unblocked, redriven or discarded', async () => {
      const [first = '', second = ''] = await store().emit({ aggregate: A }, { aggregate: A });
      const claim = await mustClaim(store(), { batchSize: 1 });
      await store().deliveries.finalize(claim, dead(first));
      expect(await store().deliveries.claim(claimRequest())).toEqual(nothing);

      await store().deadLetters.redrive({ ids: [first] }, byHand);
      const again = await mustClaim(store());
      expect(idsOf(again)).toEqual([first, second]);
      expect(again.deliveries[0]?.attempts).toBe(1);
      await store().deliveries.finalize(again, { ...dead(first), released: [second] });
      expect(await store().deliveries.claim(claimRequest())).toEqual(nothing);

      await store().deliveries.unblock([first, second]);
      const past = await mustClaim(store());
      expect(idsOf(past)).toEqual([second]);
      await store().deliveries.finalize(past, dead(second));

      const [third] = await store().emit({ aggregate: A });
      expect(await store().deliveries.claim(claimRequest())).toEqual(nothing);
      expect(await store().deadLetters.discard({ ids: [second] }, byHand)).toMatchObject({ count: 1 });
      expect(idsOf(await mustClaim(store()))).toEqual([third]);
    });

    it('are not overtaken by one that is written after the clock went back', async () => {
      const [first] = await store().emit({ aggregate: A });
      await store().passTime(-500);
      const [second] = await store().emit({ aggregate: A });
      expect(idsOf(await mustClaim(store()))).toEqual([first, second]);
    });

    it('pass a dead letter of their key that does not block it', async () => {
      const [first = '', second = ''] = await store().emit({ aggregate: A }, { aggregate: A });
      const claim = await mustClaim(store(), { batchSize: 1 });
      await store().deliveries.finalize(claim, dead(first, { blocks: false }));
      expect(idsOf(await mustClaim(store()))).toEqual([second]);
    });
  });

  describe('unordered deliveries', () => {
    it('pass one that waits and one that is dead', async () => {
      const [first = '', second = '', third] = await store().emit({}, {}, {});
      const claim = await mustClaim(store(), { batchSize: 2 });
      await store().deliveries.finalize(claim, {
        ...dead(first),
        ...{ rescheduled: rescheduled(second, 500).rescheduled },
      });
      expect(idsOf(await mustClaim(store()))).toEqual([third]);
      expect((await store().state()).deliveries.map(({ holdsKey }) => holdsKey)).toEqual([false, false, false]);
    });
  });
}
