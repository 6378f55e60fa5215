import { describe, expect, it } from 'vitest';
import type { TripRequest } from '../../libs/outbox/src/store/index.js';
import {
  claimRequest,
  DESTINATION,
  finalization,
  idsOf,
  mustClaim,
  nothing,
  OTHER_DESTINATION,
  type StoreUnderTest,
} from './delivery-store-contract-harness.js';

export function describeBreaker(store: () => StoreUnderTest): void {
  describe('a destination that could not be reached', () => {
    const trip = (overrides: Partial<TripRequest> = {}): Promise<number> =>
      store().breakers.trip({
        destination: DESTINATION,
        isProbe: false,
        baseMs: 100,
        capMs: 1000,
        jitter: 1,
        error: 'refused',
        ...overrides,
      });

    it('is left alone until the pause is over, and others are not', async () => {
      await store().emit({}, { aggregate: 'a' }, { destination: OTHER_DESTINATION });
      expect(await trip()).toBe(100);
      await store().passTime(30);
      expect(await store().deliveries.claim(claimRequest())).toEqual({ kind: 'paused', resumeMs: 70 });
      expect((await mustClaim(store(), { destination: OTHER_DESTINATION })).isProbe).toBe(false);
    });

    it('is probed with one delivery by one claim, while all others wait for its verdict or its lease', async () => {
      const [id] = await store().emit({}, { aggregate: 'a' }, {});
      await trip();
      await store().passTime(100);
      const probe = await mustClaim(store(), { leaseMs: 1000 });
      expect(probe.isProbe).toBe(true);
      expect(idsOf(probe)).toEqual([id]);
      expect(probe.lane).toBeUndefined();
      expect(await store().deliveries.claim(claimRequest())).toEqual({ kind: 'paused', resumeMs: 1000 });
      await store().passTime(1000);
      expect((await mustClaim(store())).isProbe).toBe(true);
    });

    it('is probed with an ordered delivery when there are no others, and only then is its lane leased', async () => {
      const [id] = await store().emit({ aggregate: 'a' }, { aggregate: 'a' });
      await trip();
      await store().passTime(100);
      const probe = await mustClaim(store());
      expect(idsOf(probe)).toEqual([id]);
      expect(probe.lane).toBeDefined();
    });

    it('is open to all again when a probe reached it', async () => {
      const ids = await store().emit({}, {});
      await trip();
      await store().passTime(100);
      const probe = await mustClaim(store());
      await store().breakers.close(DESTINATION);
      await store().deliveries.finalize(probe, finalization({ released: idsOf(probe) }));
      const claim = await mustClaim(store());
      expect(claim.isProbe).toBe(false);
      expect(idsOf(claim)).toEqual(ids);
      expect((await store().state()).breakers[0]?.failures).toBe(0);
    });

    it('is left alone twice as long after each failed probe, up to the cap, times the jitter', async () => {
      expect(await trip()).toBe(100);
      expect(await trip({ isProbe: true })).toBe(200);
      expect(await trip({ isProbe: true, jitter: 0.5 })).toBe(200);
      expect(await trip({ isProbe: true })).toBe(800);
      expect(await trip({ isProbe: true })).toBe(1000);
    });

    it('is not left alone longer because of batches that were under way when it began', async () => {
      await trip();
      await store().passTime(40);
      expect(await trip()).toBe(60);
      expect((await store().state()).breakers[0]?.failures).toBe(1);
    });

    it('tells a batch that was under way the pause of a failure, not the lease of the probe that is out', async () => {
      await store().emit({});
      await trip();
      await store().passTime(100);
      await mustClaim(store(), { leaseMs: 60_000 });
      expect(await trip()).toBe(200);
      expect(await store().deliveries.claim(claimRequest())).toEqual({ kind: 'paused', resumeMs: 60_000 });
    });

    it('gets its probe from the next claim when the last one found nothing to try and gave it back', async () => {
      await trip();
      await store().passTime(100);
      expect(await store().deliveries.claim(claimRequest())).toEqual({ kind: 'nothing', isProbe: true });
      await store().emit({});
      expect(await store().deliveries.claim(claimRequest())).toMatchObject({ kind: 'paused' });
      await store().breakers.giveProbeBack(DESTINATION);
      expect((await mustClaim(store())).isProbe).toBe(true);
    });

    it('is unknown to a close, a trip and a probe given back when it never was prepared', async () => {
      expect(await trip({ destination: 'unknown' })).toBe(0);
      await store().breakers.close('unknown');
      await store().breakers.giveProbeBack('unknown');
      expect(await store().deliveries.claim(claimRequest({ destination: 'unknown' }))).toEqual(nothing);
    });

    it('that was reached anyway keeps nothing of a verdict that comes late', async () => {
      await store().breakers.close(DESTINATION);
      await store().breakers.giveProbeBack(DESTINATION);
      await store().emit({});
      expect((await mustClaim(store())).isProbe).toBe(false);
    });
  });
}
