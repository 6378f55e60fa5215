import type { Claim, ClaimRequest, Finalization } from '../../libs/outbox/src/store/index.js';
import type { SeededRandom } from '../simulation/seeded-random.js';
import { byHand } from '../support/by-hand.js';
import {
  claimRequest,
  DESTINATION,
  type Emitted,
  OTHER_DESTINATION,
  type StoreUnderTest,
} from './delivery-store-contract-harness.js';

/** One operation, drawn once and applied to every store; answers what the store said. */
export interface Step {
  readonly name: string;
  readonly apply: (store: StoreUnderTest) => Promise<unknown>;
}

/** The first and the last share a lane (their keys are hashes). */
const AGGREGATES = ['a', 'b', 'c', 'a-22'];

/** Draws steps that make sense in the light of what the stores answered so far, stale and repeated ones included. */
export class StepSource {
  private readonly claims: Claim[] = [];
  private readonly unfinished = new Set<Claim>();
  private emitted = 0;
  private lastUs: number | undefined;

  constructor(private readonly random: SeededRandom) {}

  /** A claim that both stores answered; later steps refer to it. */
  note(claim: Claim): void {
    this.claims.push(claim);
    this.lastUs = claim.lastUs ?? this.lastUs;
    this.unfinished.add(claim);
  }

  next(): Step {
    const kind = this.random.weighted({
      emit: 14,
      claim: 26,
      finalize: this.claims.length > 0 ? 11 : 0,
      finalizeAndClaim: this.claims.length > 0 ? 11 : 0,
      renew: this.claims.length > 0 ? 8 : 0,
      pass: 14,
      trip: 2,
      close: 3,
      giveProbeBack: 2,
      redrive: 3,
      discard: 2,
      unblock: 2,
    });
    return this[kind]();
  }

  private emit(): Step {
    const events = Array.from(
      { length: this.random.between(1, 4) },
      (): Emitted => ({
        destination: this.destination(),
        aggregate: this.random.chance(0.65) ? this.random.pick(AGGREGATES) : undefined,
        bytes: this.random.between(1, 60),
      }),
    );
    this.emitted += events.length;
    return { name: `emit ${JSON.stringify(events)}`, apply: (store) => store.emit(...events) };
  }

  private claim(): Step {
    const request = this.request();
    return { name: `claim ${JSON.stringify(request)}`, apply: (store) => store.deliveries.claim(request) };
  }

  private finalizeAndClaim(): Step {
    const claim = this.someClaim();
    this.unfinished.delete(claim);
    const [outcomes, request] = [this.outcomesOf(claim), this.request()];
    return {
      name: `finalize ${claim.token} ${JSON.stringify(outcomes)} and claim ${JSON.stringify(request)}`,
      apply: async (store) => (await store.deliveries.finalizeAndClaim(claim, outcomes, request)).answer,
    };
  }

  private request(): ClaimRequest {
    return claimRequest({
      destination: this.destination(),
      batchSize: this.random.between(1, 5),
      batchBytes: this.random.pick([1, 80, 10_000]),
      leaseMs: this.random.pick([200, 1000]),
      maxAttempts: this.random.between(1, 3),
      fromUs: this.random.chance(0.2) ? this.lastUs : undefined,
    });
  }

  private finalize(): Step {
    const claim = this.someClaim();
    this.unfinished.delete(claim);
    const outcomes = this.outcomesOf(claim);
    return {
      name: `finalize ${claim.token} ${JSON.stringify(outcomes)}`,
      apply: (store) => store.deliveries.finalize(claim, outcomes),
    };
  }

  private renew(): Step {
    const claim = this.someClaim();
    const ids = this.random.some(idsIn(claim), 0.8);
    const leaseMs = this.random.pick([200, 1000]);
    return { name: `renew ${claim.token} ${ids}`, apply: (store) => store.deliveries.renew(claim, ids, leaseMs) };
  }

  private pass(): Step {
    const ms = this.random.pick([1, 5, 20, 199, 200, 201, 1000, 1001, -30, -500]);
    return { name: `pass ${ms} ms`, apply: (store) => store.passTime(ms) };
  }

  private trip(): Step {
    const request = {
      destination: this.destination(),
      isProbe: this.random.chance(0.5),
      baseMs: 50,
      capMs: 300,
      jitter: this.random.pick([0.5, 1]),
      error: 'refused',
    };
    return { name: `trip ${JSON.stringify(request)}`, apply: (store) => store.breakers.trip(request) };
  }

  private close(): Step {
    const destination = this.destination();
    return { name: `close ${destination}`, apply: (store) => store.breakers.close(destination) };
  }

  private giveProbeBack(): Step {
    const destination = this.destination();
    return { name: `give back ${destination}`, apply: (store) => store.breakers.giveProbeBack(destination) };
  }

  private redrive(): Step {
    const ids = this.someIds();
    return { name: `redrive ${ids}`, apply: (store) => store.deadLetters.redrive({ ids }, byHand) };
  }

  private discard(): Step {
    const ids = this.someIds();
    return { name: `discard ${ids}`, apply: (store) => store.deadLetters.discard({ ids }, byHand) };
  }

  private unblock(): Step {
    const ids = this.someIds();
    return { name: `unblock ${ids}`, apply: (store) => store.deliveries.unblock(ids) };
  }

  private destination(): string {
    return this.random.chance(0.85) ? DESTINATION : OTHER_DESTINATION;
  }

  /** Mostly one that waits for its outcome, at times one that has it or was taken over. */
  private someClaim(): Claim {
    const open = [...this.unfinished];
    return open.length > 0 && this.random.chance(0.75) ? this.random.pick(open) : this.random.pick(this.claims);
  }

  private someIds(): string[] {
    return Array.from({ length: 4 }, () => String(this.random.between(1, Math.max(1, this.emitted))));
  }

  private outcomesOf(claim: Claim): Finalization {
    const drawn = idsIn(claim).map((id) => ({
      id,
      kind: this.random.weighted({ delivered: 4, rescheduled: 3, dead: 1, released: 2 }),
    }));
    const idsOf = (wanted: string): string[] => drawn.filter(({ kind }) => kind === wanted).map(({ id }) => id);
    return {
      delivered: idsOf('delivered'),
      released: idsOf('released'),
      dead: idsOf('dead').map((id) => ({ id, error: 'given up', blocksKey: this.random.chance(0.7) })),
      rescheduled: idsOf('rescheduled').map((id) => {
        const delayMs = this.random.pick([0, 10, 300]);
        return { id, delayMs, refundAttempt: this.random.chance(0.5), error: 'failed' };
      }),
    };
  }
}

/** What was reaped too: a success that comes late may name it. */
function idsIn(claim: Claim): string[] {
  return [...claim.deliveries, ...claim.reaped].map(({ id }) => id);
}
