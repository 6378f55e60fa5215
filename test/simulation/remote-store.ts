import type { EventEnvelope } from '../../libs/outbox/src/event/index.js';
import type {
  Claim,
  ClaimAnswer,
  ClaimedDelivery,
  ClaimRequest,
  Finalization,
  TripRequest,
} from '../../libs/outbox/src/store/index.js';
import type { Store } from './checked-store.js';
import type { ClaimRecord, Ledger, LedgerEntry } from './ledger.js';
import type { Network } from './network.js';
import type { SimulatedDispatcher } from './simulated-dispatcher.js';
import type { Trace } from './trace.js';

/** Tells under which claim an event was handed over: each claim gives out its own copy of the envelope. */
export type Handouts = WeakMap<EventEnvelope, { readonly record: ClaimRecord; readonly entry: LedgerEntry }>;

export interface RemoteStoreParts {
  readonly process: SimulatedDispatcher;
  readonly store: Store;
  readonly network: Network;
  readonly ledger: Ledger;
  readonly handouts: Handouts;
  readonly trace: Trace;
  readonly now: () => number;
  readonly contention: number;
}

/** The database as one process sees it: late, at times not at all, and at times without being told what it did. */
export class RemoteStore implements Store {
  constructor(private readonly parts: RemoteStoreParts) {}

  prepare(destination: string): Promise<void> {
    return this.call('prepare', (store) => store.prepare(destination));
  }

  async claim(request: ClaimRequest): Promise<ClaimAnswer> {
    const { network, contention, now } = this.parts;
    const sentAt = now();
    const answer = await this.call(
      'claim',
      async (store): Promise<ClaimAnswer> =>
        network.happens(contention) ? { kind: 'contended' } : store.claim(request),
    );
    return this.received(answer, sentAt + request.leaseMs);
  }

  async renew(claim: Claim, ids: readonly string[], leaseMs: number): Promise<number> {
    const askedAt = this.parts.now();
    const renewed = await this.call(`renew ${claim.token}`, (store) => store.renew(claim, ids, leaseMs));
    const record = this.parts.ledger.claim(claim.token);
    if (renewed === ids.length) record.deadline = Math.max(record.deadline, askedAt + leaseMs);
    return renewed;
  }

  finalize(claim: Claim, outcomes: Finalization): Promise<number> {
    return this.call(`finalize ${claim.token} ${describeOutcomes(outcomes)}`, (store) =>
      store.finalize(claim, outcomes),
    );
  }

  async finalizeAndClaim(
    claim: Claim,
    outcomes: Finalization,
    request: ClaimRequest,
  ): Promise<{ missed: number; answer: ClaimAnswer }> {
    const { network, contention, now } = this.parts;
    const sentAt = now();
    const { missed, answer } = await this.call(
      `finalize ${claim.token} ${describeOutcomes(outcomes)} and claim`,
      async (store): Promise<{ missed: number; answer: ClaimAnswer }> =>
        network.happens(contention)
          ? { missed: await store.finalize(claim, outcomes), answer: { kind: 'contended' } }
          : store.finalizeAndClaim(claim, outcomes, request),
    );
    return { missed, answer: this.received(answer, sentAt + request.leaseMs) };
  }

  unblock(ids: readonly string[]): Promise<void> {
    return this.call(`unblock ${ids}`, (store) => store.unblock(ids));
  }

  trip(request: TripRequest): Promise<number> {
    return this.call(request.isProbe ? 'trip by probe' : 'trip', (store) => store.trip(request));
  }

  close(destination: string): Promise<void> {
    return this.call('close breaker', (store) => store.close(destination));
  }

  giveProbeBack(destination: string): Promise<void> {
    return this.call('give probe back', (store) => store.giveProbeBack(destination));
  }

  private async call<T>(what: string, operation: (store: Store) => Promise<T>): Promise<T> {
    const { process, network, store, trace } = this.parts;
    const effect = async (): Promise<T> => {
      const answer = await operation(store);
      const told = describeAnswer(answer);
      if (told !== undefined) trace.note(process.name, `${what} → ${told}`);
      return answer;
    };
    try {
      return await network.call(process, effect);
    } catch (error) {
      trace.note(process.name, `${what} fails: ${error instanceof Error ? error.message : 'unknown'}`);
      throw error;
    }
  }

  private received(answer: ClaimAnswer, deadline: number): ClaimAnswer {
    if (answer.kind !== 'claimed') return answer;
    const record = this.parts.ledger.claim(answer.claim.token);
    record.deadline = deadline;
    return { kind: 'claimed', claim: this.handOut(answer.claim, record) };
  }

  private handOut(claim: Claim, record: ClaimRecord): Claim {
    const { ledger, handouts } = this.parts;
    const deliveries = claim.deliveries.map((delivery): ClaimedDelivery => {
      if (delivery.envelope === undefined) return delivery;
      const envelope = { ...delivery.envelope };
      handouts.set(envelope, { record, entry: ledger.entry(delivery.id) });
      return { ...delivery, envelope };
    });
    return { ...claim, deliveries };
  }
}

function describeOutcomes({ delivered, rescheduled, dead, released }: Finalization): string {
  const refund = ({ id, refundAttempt }: Finalization['rescheduled'][number]): string =>
    refundAttempt ? `${id} (refund)` : id;
  return [
    ['delivered', delivered],
    ['rescheduled', rescheduled.map(refund)],
    ['dead', dead.map(({ id, blocksKey }) => (blocksKey ? `${id} (blocks)` : id))],
    ['released', released],
  ]
    .filter(([, ids]) => ids !== undefined && ids.length > 0)
    .map(([name, ids]) => `${name} ${ids}`)
    .join(', ');
}

/** Undefined for what happens all the time and says nothing: an empty claim. */
function describeAnswer(answer: unknown): string | undefined {
  if (typeof answer !== 'object' || answer === null) return answer === undefined ? 'written' : String(answer);
  const claimed = answer as ClaimAnswer;
  if (claimed.kind === 'paused') return `paused for ${claimed.resumeMs.toFixed(1)} ms`;
  if (claimed.kind === 'nothing') return claimed.isProbe ? 'nothing, is the probe' : undefined;
  if (claimed.kind !== 'claimed') return claimed.kind;
  const { token, lane, isProbe, deliveries, reaped } = claimed.claim;
  const parts = [
    `token ${token}`,
    lane === undefined ? '' : `lane ${lane}`,
    isProbe ? 'probe' : '',
    deliveries.map(({ id, attempts }) => `${id} (attempt ${attempts})`).join(', '),
    reaped.length > 0 ? `reaped ${reaped.map(({ id }) => id)}` : '',
  ];
  return parts.filter(Boolean).join(' ');
}
