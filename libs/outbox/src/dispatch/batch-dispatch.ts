import type { ResolvedDestination } from '../config/index.js';
import type { OnDead } from '../event/index.js';
import { fullJitterMs, monotonicMs, type Random, waitFor } from '../runtime/index.js';
import type { Claim, ClaimAnswer, ClaimedDelivery, ClaimRequest, DeliveryStore, Finalization } from '../store/index.js';
import type { DestinationTelemetry } from '../telemetry/index.js';
import { held, type PublishOutcome } from '../transports/index.js';
import type { Breaker } from './breaker.js';
import type { DispatchLog } from './dispatch-log.js';
import type { DispatchSummary } from './dispatch-summary.js';
import { LeaseKeeper } from './lease-keeper.js';
import type { Reach } from './low-water.js';
import { publishBatch, type Sendable } from './publish-batch.js';
import type { CallOutcome } from './publish-call.js';

import { settleOutcomes } from './settle-outcomes.js';

const FINALIZE_RETRY_BASE_MS = 50;
const FINALIZE_RETRY_CAP_MS = 2000;

/** Outcomes after which a delivery is tried again. */
const RESCHEDULING = ['retry', 'defer', 'unreachable'] as const;

export interface BatchDispatchParts {
  readonly destination: ResolvedDestination;
  readonly store: DeliveryStore;
  readonly breaker: Breaker;
  readonly log: DispatchLog;
  readonly telemetry: DestinationTelemetry;
  readonly onDead: (type: string | undefined) => OnDead;
  readonly random: Random;
}

export interface DispatchedBatch {
  readonly summary: DispatchSummary;
  /** The answer to the claim that went with the finalize; undefined when none did, or when it failed. */
  readonly next: AnsweredClaim | undefined;
}

/** A claim that is about to be sent. */
export interface PlannedClaim {
  readonly request: ClaimRequest;
  readonly reach: Reach;
}

export interface AnsweredClaim {
  readonly planned: PlannedClaim;
  readonly answer: ClaimAnswer;
  /** Monotonic time from before it was sent. */
  readonly askedAt: number;
}

/** Asked when the outcomes are known: the claim that goes along with writing them, or undefined for none. */
export type PlanNext = (outcomes: Finalization) => PlannedClaim | undefined;

/** What a finalize achieved. */
interface Finalized {
  /** Outcomes that could not be written because the delivery was taken over. */
  readonly leaseLost: number;
  readonly next: AnsweredClaim | undefined;
}

/**
 * Takes one claim from its lease to its outcomes: publish, with no transaction open, then finalize under the token.
 * If the process dies here, everything still leased is taken over when the lease ends, and what was sent is sent again
 * with the same event id.
 */
export class BatchDispatch {
  constructor(private readonly parts: BatchDispatchParts) {}

  /**
   * @param draining nothing more is started once it aborts.
   * @param cutOff what is running is interrupted once it aborts.
   */
  async dispatch(
    claim: Claim,
    claimedAt: number,
    planNext: PlanNext,
    draining: AbortSignal,
    cutOff: AbortSignal,
  ): Promise<DispatchedBatch> {
    const { store, destination } = this.parts;
    const keeper = new LeaseKeeper(store, claim, destination.leaseMs, claimedAt, cutOff);
    try {
      const permit = { signal: keeper.signal, mayStart: () => !draining.aborted && keeper.isHeld() };
      const sendables = sendablesOf(claim.deliveries, destination.name);
      const outcomes = await publishBatch(sendables, destination, permit, this.parts.telemetry);
      return await this.settle(claim, outcomes, keeper, planNext);
    } finally {
      keeper.stop();
    }
  }

  private async settle(
    claim: Claim,
    outcomes: ReadonlyMap<string, CallOutcome>,
    keeper: LeaseKeeper,
    planNext: PlanNext,
  ): Promise<DispatchedBatch> {
    const { destination, onDead, random, log } = this.parts;
    const outcomeOf = (delivery: ClaimedDelivery): PublishOutcome =>
      delivery.envelope === undefined
        ? { kind: 'dead', error: delivery.problem ?? 'the event cannot be read' }
        : (outcomes.get(delivery.id)?.outcome ?? held);
    const pauseMs = await this.noteReachability(
      claim,
      [...outcomes.values()].map(({ outcome }) => outcome),
    );
    const settled = settleOutcomes(claim.deliveries, outcomeOf, { destination, onDead, pauseMs, random });
    const { leaseLost, next } = await this.finalize(claim, settled, keeper, planNext);
    if (leaseLost > 0) log.leaseLost(claim, leaseLost);
    const unclassified = this.report(claim, settled, outcomes);
    this.count(claim, settled, outcomes, { leaseLost, unclassified });
    const summary: DispatchSummary = {
      claimed: claim.deliveries.length + claim.reaped.length,
      delivered: settled.delivered.length,
      duplicates: this.reportDuplicates(claim, outcomes),
      retried: settled.rescheduled.filter(({ refundAttempt }) => !refundAttempt).length,
      deferred: settled.rescheduled.filter(({ refundAttempt }) => refundAttempt).length,
      dead: settled.dead.length + claim.reaped.length,
      released: settled.released.length,
      leaseLost,
      unclassified,
    };
    return { summary, next };
  }

  /** @returns for how long an unreachable destination is left alone, in ms; 0 when it was reached. */
  private async noteReachability(claim: Claim, outcomes: readonly PublishOutcome[]): Promise<number> {
    const { breaker } = this.parts;
    const failure = outcomes.find((outcome) => outcome.kind === 'unreachable');
    if (failure !== undefined) return breaker.trip(failure.error, claim.isProbe);
    if (!claim.isProbe) return 0;
    if (outcomes.some(({ kind }) => kind !== 'held')) await breaker.close();
    else await breaker.giveProbeBack();
    return 0;
  }

  /**
   * Writes the outcomes, the next claim along with them, or else alone: then it tries again while PostgreSQL does not
   * answer and the lease is held. A repeated finalize is harmless: what was written does not carry the token any more.
   */
  private async finalize(
    claim: Claim,
    settled: Finalization,
    keeper: LeaseKeeper,
    planNext: PlanNext,
  ): Promise<Finalized> {
    const { log, random } = this.parts;
    await keeper.endRenewals();
    for (let attempt = 0; ; attempt += 1) {
      const planned = attempt === 0 && keeper.isHeld() ? planNext(settled) : undefined;
      try {
        const finalized = await log.askingDatabase('finalize', () => this.write(claim, settled, planned));
        return attempt === 0 ? finalized : { leaseLost: 0, next: undefined };
      } catch {
        if (!keeper.isHeld()) return { leaseLost: claim.deliveries.length, next: undefined };
        await waitFor(fullJitterMs(attempt, FINALIZE_RETRY_BASE_MS, FINALIZE_RETRY_CAP_MS, random), keeper.signal);
      }
    }
  }

  private async write(claim: Claim, settled: Finalization, planned: PlannedClaim | undefined): Promise<Finalized> {
    const { store } = this.parts;
    if (planned === undefined) return { leaseLost: await store.finalize(claim, settled), next: undefined };
    const askedAt = monotonicMs();
    const { missed, answer } = await store.finalizeAndClaim(claim, settled, planned.request);
    return { leaseLost: missed, next: { planned, answer, askedAt } };
  }

  /** A duplicate is a success, but a person who redrove the event wants to know that it had arrived before. */
  private reportDuplicates(claim: Claim, outcomes: ReadonlyMap<string, CallOutcome>): number {
    let duplicates = 0;
    for (const { id, envelope } of claim.deliveries) {
      const outcome = outcomes.get(id)?.outcome;
      if (outcome?.kind !== 'delivered' || outcome.duplicate !== true) continue;
      duplicates += 1;
      this.parts.log.duplicate(envelope?.id);
    }
    return duplicates;
  }

  private count(
    claim: Claim,
    settled: Finalization,
    outcomes: ReadonlyMap<string, CallOutcome>,
    { leaseLost, unclassified }: Pick<DispatchSummary, 'leaseLost' | 'unclassified'>,
  ): void {
    const { telemetry } = this.parts;
    const kinds = settled.rescheduled.map(({ id }) => outcomes.get(id)?.outcome.kind);
    telemetry.attempted('delivered', settled.delivered.length);
    for (const outcome of RESCHEDULING) telemetry.attempted(outcome, kinds.filter((kind) => kind === outcome).length);
    telemetry.attempted('dead', settled.dead.length + claim.reaped.length);
    telemetry.leaseLost(leaseLost);
    telemetry.unclassified(unclassified);
  }

  private report(claim: Claim, settled: Finalization, outcomes: ReadonlyMap<string, CallOutcome>): number {
    const { log } = this.parts;
    const byId = new Map(claim.deliveries.map((delivery) => [delivery.id, delivery]));
    for (const { id, error } of settled.dead) {
      const delivery = byId.get(id);
      log.dead(delivery?.envelope?.id, delivery?.attempts ?? 0, error);
    }
    let unclassified = 0;
    for (const [id, { outcome, isUnclassified }] of outcomes) {
      if (!isUnclassified) continue;
      unclassified += 1;
      const delivery = byId.get(id);
      log.unclassified(
        delivery?.envelope?.id ?? '',
        delivery?.attempts ?? 0,
        'error' in outcome ? outcome.error : outcome.kind,
      );
    }
    return unclassified;
  }
}

/** What can be read, without the followers of an ordered event that cannot: that one becomes a dead letter. */
function sendablesOf(deliveries: readonly ClaimedDelivery[], destination: string): Sendable[] {
  const heldKeys = new Set<string>();
  const sendables: Sendable[] = [];
  for (const { id, orderingKey, ageMs, envelope, attempts, redrives } of deliveries) {
    if (envelope === undefined) {
      if (orderingKey !== undefined) heldKeys.add(orderingKey);
    } else if (orderingKey === undefined || !heldKeys.has(orderingKey)) {
      sendables.push({ id, orderingKey, ageMs, event: { envelope, destination, attempt: attempts, redrives } });
    }
  }
  return sendables;
}
