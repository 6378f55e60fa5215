import type {
  BreakerStore,
  Claim,
  ClaimAnswer,
  ClaimRequest,
  DeliveryStore,
  Finalization,
  TripRequest,
} from '../../libs/outbox/src/store/index.js';
import type { InMemoryQueue } from '../../libs/outbox/src/testing/index.js';
import { checkClaim, type Effect } from './check-claim.js';
import { checkFinalize, checkRenew, noteTrip } from './check-writes.js';
import type { Ledger } from './ledger.js';
import { changedLanes, changedRows, snapshotOf } from './queue-snapshot.js';

export type Store = DeliveryStore & BreakerStore;

interface Watched<T> {
  readonly answer: T;
  readonly effect: Effect;
}

/** The database: every operation takes effect at once, and is compared with the ledger. */
export class CheckedStore implements Store {
  constructor(
    private readonly queue: InMemoryQueue,
    private readonly store: Store,
    private readonly ledger: Ledger,
    private readonly complain: (problem: string) => void,
  ) {}

  async prepare(destination: string): Promise<void> {
    await this.unchanged(() => this.store.prepare(destination));
  }

  async claim(request: ClaimRequest): Promise<ClaimAnswer> {
    return this.checkedClaim(request, await this.watch(() => this.store.claim(request)));
  }

  async renew(claim: Claim, ids: readonly string[], leaseMs: number): Promise<number> {
    const { answer, effect } = await this.watch(() => this.store.renew(claim, ids, leaseMs));
    checkRenew(this.ledger, claim, ids, answer, effect);
    return answer;
  }

  async finalize(claim: Claim, outcomes: Finalization): Promise<number> {
    const { answer, effect } = await this.watch(() => this.store.finalize(claim, outcomes));
    checkFinalize(this.ledger, claim, outcomes, answer, effect);
    return answer;
  }

  /** Through the two operations, so that a mistake planted in one of them is in here too. */
  async finalizeAndClaim(
    claim: Claim,
    outcomes: Finalization,
    request: ClaimRequest,
  ): Promise<{ missed: number; answer: ClaimAnswer }> {
    const finalizing = this.watch(() => this.store.finalize(claim, outcomes));
    const claiming = this.watch(() => this.store.claim(request));
    const { answer: missed, effect } = await finalizing;
    checkFinalize(this.ledger, claim, outcomes, missed, effect);
    return { missed, answer: this.checkedClaim(request, await claiming) };
  }

  /** Only followers of an event whose type says so are let past it without a person. */
  async unblock(ids: readonly string[]): Promise<void> {
    for (const id of ids) {
      const { event } = this.ledger.entry(id);
      if (event.type !== 'skipping') this.complain(`the followers of ${id} were let past it, which blocks its key`);
    }
    await this.letPass(ids);
    this.ledger.counts.skipped += ids.length;
  }

  /** As a person decides it. */
  async letPass(ids: readonly string[]): Promise<void> {
    await this.store.unblock(ids);
    for (const id of ids) {
      const entry = this.ledger.entry(id);
      if (entry.state === 'dead') entry.isPassed = true;
    }
  }

  async trip(request: TripRequest): Promise<number> {
    const { answer, effect } = await this.watch(() => this.store.trip(request));
    noteTrip(this.ledger, request, answer, effect);
    return answer;
  }

  async close(destination: string): Promise<void> {
    await this.unchanged(() => this.store.close(destination));
    Object.assign(this.ledger.breaker, { failures: 0, resumeAt: 0 });
  }

  async giveProbeBack(destination: string): Promise<void> {
    await this.unchanged(() => this.store.giveProbeBack(destination));
    const { breaker } = this.ledger;
    if (breaker.failures > 0) breaker.resumeAt = this.queue.clock();
  }

  private checkedClaim(request: ClaimRequest, { answer, effect }: Watched<ClaimAnswer>): ClaimAnswer {
    checkClaim(this.ledger, request, answer, effect);
    if (answer.kind === 'claimed') {
      const record = {
        claim: answer.claim,
        deadline: 0,
        published: new Set<string>(),
        acknowledged: new Set<string>(),
      };
      this.ledger.claims.set(Number(answer.claim.token), record);
    }
    return answer;
  }

  private async unchanged(operation: () => Promise<void>): Promise<void> {
    const { effect } = await this.watch(operation);
    const { before, after } = effect;
    if (changedRows(before, after).length + changedLanes(before, after).length > 0) {
      this.complain('deliveries changed without a reason');
    }
  }

  private async watch<T>(operation: () => Promise<T>): Promise<Watched<T>> {
    const before = snapshotOf(this.queue);
    const running = operation();
    // The in-memory store has done all of it by now; later operations belong to others.
    const after = snapshotOf(this.queue);
    return { answer: await running, effect: { before, after, complain: this.complain } };
  }
}
