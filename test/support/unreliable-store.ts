import { setTimeout as wait } from 'node:timers/promises';
import type { Claim, Finalization } from '../../libs/outbox/src/store/index.js';
import type { QueueStore } from './outbox-queue.js';
import type { SeededRandom } from './seeded-random.js';

export interface StoreWitness {
  claimed(claim: Claim): void;
  finalizing(claim: Claim, outcomes: Finalization): void;
  unblocking(ids: readonly string[]): void;
}

/**
 * The connection of a dispatcher in trouble: answers get lost after the statement was executed, renewals fail for a
 * whole claim, and outcomes are written long after the lease is over, as by a process that was paused.
 */
export function unreliable(
  store: QueueStore,
  random: SeededRandom,
  leaseMs: number,
  witness: StoreWitness,
): QueueStore {
  const withoutRenewals = new Set<string>();
  return {
    breakers: store.breakers,
    prepare: (destination) => store.prepare(destination),
    async claim(request) {
      const answer = await store.claim(request);
      if (answer.kind !== 'claimed') return answer;
      if (random.chance(0.02)) throw new Error('the answer to the claim was lost');
      if (random.chance(0.1)) withoutRenewals.add(answer.claim.token);
      witness.claimed(answer.claim);
      return answer;
    },
    async renew(claim, ids, forMs) {
      if (withoutRenewals.has(claim.token)) throw new Error('the renewal did not get through');
      return store.renew(claim, ids, forMs);
    },
    async finalize(claim, outcomes) {
      if (random.chance(0.03)) await wait(leaseMs * 1.5);
      witness.finalizing(claim, outcomes);
      const missed = await store.finalize(claim, outcomes);
      if (random.chance(0.03)) throw new Error('the answer to the finalize was lost');
      return missed;
    },
    async finalizeAndClaim(claim, outcomes, request) {
      if (random.chance(0.03)) await wait(leaseMs * 1.5);
      witness.finalizing(claim, outcomes);
      const both = await store.finalizeAndClaim(claim, outcomes, request);
      if (random.chance(0.03)) throw new Error('the answer to the finalize and the claim was lost');
      if (both.answer.kind === 'claimed') witness.claimed(both.answer.claim);
      return both;
    },
    async unblock(ids) {
      witness.unblocking(ids);
      await store.unblock(ids);
    },
  };
}
