import { beforeEach, describe, expect, it } from 'vitest';
import type { Claim, Finalization } from '../../libs/outbox/src/store/index.js';
import { byHand } from '../support/by-hand.js';
import {
  dead,
  finalization,
  idsOf,
  mustClaim,
  rescheduled,
  type StoreUnderTest,
} from './delivery-store-contract-harness.js';

const EVERY_OUTCOME: readonly [string, (id: string) => Finalization][] = [
  ['success', (id) => finalization({ delivered: [id] })],
  ['retry', (id) => rescheduled(id, 100)],
  ['deferral', (id) => rescheduled(id, 100, { refund: true })],
  ['dead letter', (id) => dead(id)],
  ['release', (id) => finalization({ released: [id] })],
];

export function describeFencing(store: () => StoreUnderTest): void {
  describe.each(['unordered', 'ordered'])('a dispatcher whose %s delivery was taken over', (order) => {
    let stale: Claim;
    let current: Claim;
    let id: string;
    beforeEach(async () => {
      const [emitted = ''] = await store().emit(order === 'ordered' ? { aggregate: 'a' } : {});
      id = emitted;
      stale = await mustClaim(store(), { leaseMs: 1000 });
      await store().passTime(1001);
      current = await mustClaim(store());
    });

    it.each(EVERY_OUTCOME)('changes nothing with its %s', async (_, outcome) => {
      const before = await store().state();
      expect(await store().deliveries.finalize(stale, outcome(id))).toBe(1);
      expect(await store().state()).toEqual(before);
    });

    it('changes nothing with its renewal, and learns that it has lost it', async () => {
      const before = await store().state();
      expect(await store().deliveries.renew(stale, [id], 9000)).toBe(0);
      expect(await store().state()).toEqual(before);
    });

    it('does not keep its successor from finishing', async () => {
      await store().deliveries.finalize(stale, finalization({ delivered: [id] }));
      expect(await store().deliveries.finalize(current, finalization({ delivered: [id] }))).toBe(0);
      expect((await store().state()).deliveries).toEqual([]);
    });

    it('changes nothing after its successor has rescheduled or released it either', async () => {
      await store().deliveries.finalize(current, rescheduled(id, 100));
      const before = await store().state();
      for (const [, outcome] of EVERY_OUTCOME) {
        expect(await store().deliveries.finalize(stale, outcome(id))).toBe(1);
      }
      expect(await store().state()).toEqual(before);
    });
  });

  describe.each(['unordered', 'ordered'])('a dispatcher whose lease of an %s delivery ended', (order) => {
    it.each(EVERY_OUTCOME)('may still write its %s while nobody has taken over', async (_, outcome) => {
      const [id = ''] = await store().emit(order === 'ordered' ? { aggregate: 'a' } : {});
      const claim = await mustClaim(store(), { leaseMs: 1000 });
      await store().passTime(5000);
      expect(await store().deliveries.finalize(claim, outcome(id))).toBe(0);
      const { deliveries, lanes } = await store().state();
      expect([...deliveries, ...lanes].map(({ leaseUntil }) => leaseUntil).filter(Boolean)).toEqual([]);
    });
  });

  describe('a dispatcher that lost its lane', () => {
    let stale: Claim;
    let first: string;
    let second: string;
    beforeEach(async () => {
      [first = '', second = ''] = await store().emit({ aggregate: 'a' }, { aggregate: 'a' });
      stale = await mustClaim(store(), { leaseMs: 1000 });
      await store().passTime(1001);
      expect(idsOf(await mustClaim(store(), { batchSize: 1 }))).toEqual([first]);
    });

    it.each(EVERY_OUTCOME.filter(([name]) => name !== 'success'))(
      'moves nothing of it with its %s, not even what was not taken over',
      async (_, outcome) => {
        const before = await store().state();
        expect(await store().deliveries.finalize(stale, outcome(second))).toBe(1);
        expect(await store().deliveries.renew(stale, [first, second], 9000)).toBe(0);
        expect(await store().state()).toEqual(before);
      },
    );

    it('may say that what was not taken over is delivered', async () => {
      expect(await store().deliveries.finalize(stale, finalization({ delivered: [first, second] }))).toBe(1);
      expect((await store().state()).deliveries.map(({ id }) => id)).toEqual([first]);
    });
  });

  describe('a dead letter that was redriven', () => {
    it('is moved by no outcome of its earlier life but a success', async () => {
      const [id = ''] = await store().emit({});
      const stale = await mustClaim(store(), { leaseMs: 1000, maxAttempts: 1 });
      await store().passTime(1001);
      await mustClaim(store(), { maxAttempts: 1 });
      expect(await store().deadLetters.redrive({ ids: [id] }, byHand)).toMatchObject({ count: 1 });
      const redriven = await store().state();
      for (const [name, outcome] of EVERY_OUTCOME) {
        if (name !== 'success') expect(await store().deliveries.finalize(stale, outcome(id))).toBe(1);
      }
      expect(await store().state()).toEqual(redriven);
      expect(await store().deliveries.finalize(stale, finalization({ delivered: [id] }))).toBe(0);
      expect((await store().state()).deliveries).toEqual([]);
    });
  });
}
