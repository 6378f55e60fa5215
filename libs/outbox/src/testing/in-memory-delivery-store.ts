import type { Completion } from '../config/index.js';
import type {
  Claim,
  ClaimAnswer,
  ClaimedDelivery,
  ClaimRequest,
  DeliveryStore,
  Finalization,
  ReapedDelivery,
} from '../store/index.js';
import { passBreaker } from './in-memory-breaker-store.js';
import { isSpent, nextDueMs, reap, selectDue } from './in-memory-claim.js';
import { writeOutcomes } from './in-memory-finalize.js';
import type { InMemoryDelivery, InMemoryQueue } from './in-memory-queue.js';

/** The queue of deliveries without a database, with the answers of the PostgreSQL store: one contract suite has both. */
export class InMemoryDeliveryStore implements DeliveryStore {
  constructor(
    private readonly queue: InMemoryQueue,
    private readonly completion: Completion = 'delete',
  ) {}

  async prepare(destination: string): Promise<void> {
    this.queue.prepare(destination);
  }

  async claim(request: ClaimRequest): Promise<ClaimAnswer> {
    const { queue } = this;
    const token = queue.nextToken();
    const passage = passBreaker(queue, request.destination, request.leaseMs);
    if (passage.kind !== 'open') return passage;
    const { taken, lane, lastUs } = selectDue(queue, request, passage.isProbe);
    if (taken.length === 0) {
      return { kind: 'nothing', isProbe: passage.isProbe, nextDueMs: nextDueMs(queue, request.destination) };
    }

    const leaseUntil = queue.clock() + request.leaseMs;
    if (lane !== undefined) Object.assign(lane, { token, leaseUntil, claimedAt: queue.clock() });
    const deliveries: ClaimedDelivery[] = [];
    const reaped: ReapedDelivery[] = [];
    for (const delivery of taken) {
      if (isSpent(delivery, request.maxAttempts)) {
        reap(delivery);
        reaped.push(toReaped(delivery));
      } else {
        Object.assign(delivery, { token, leaseUntil, attempts: delivery.attempts + 1 });
        deliveries.push(toClaimed(delivery, queue.clock()));
      }
    }
    const claim: Claim = {
      token: String(token),
      destination: request.destination,
      lane: lane?.lane,
      isProbe: passage.isProbe,
      deliveries,
      reaped,
      lastUs,
    };
    return { kind: 'claimed', claim };
  }

  async renew(claim: Claim, ids: readonly string[], leaseMs: number): Promise<number> {
    const { queue } = this;
    const token = Number(claim.token);
    const leaseUntil = queue.clock() + leaseMs;
    const lane = queue.laneOf(claim.destination, claim.lane);
    const isLaneHeld = lane?.token === token && lane.leaseUntil !== undefined;
    if (lane !== undefined && isLaneHeld) lane.leaseUntil = leaseUntil;
    const held = ids
      .flatMap((id) => queue.deliveries.get(id) ?? [])
      .filter((one) => one.token === token && one.status === 'pending' && one.leaseUntil !== undefined)
      .filter((one) => one.lane === undefined || isLaneHeld);
    for (const delivery of held) delivery.leaseUntil = leaseUntil;
    return held.length;
  }

  async finalize(claim: Claim, outcomes: Finalization): Promise<number> {
    const { delivered, rescheduled, dead, released } = outcomes;
    const intended = delivered.length + rescheduled.length + dead.length + released.length;
    return intended - writeOutcomes(this.queue, claim, outcomes, this.completion);
  }

  async finalizeAndClaim(
    claim: Claim,
    outcomes: Finalization,
    request: ClaimRequest,
  ): Promise<{ missed: number; answer: ClaimAnswer }> {
    // Both have taken effect before the first of them is awaited.
    const [finalizing, claiming] = [this.finalize(claim, outcomes), this.claim(request)];
    return { missed: await finalizing, answer: await claiming };
  }

  async unblock(ids: readonly string[]): Promise<void> {
    for (const id of ids) {
      const delivery = this.queue.deliveries.get(id);
      if (delivery?.status === 'dead') delivery.holdsKey = false;
    }
  }
}

function toClaimed(delivery: InMemoryDelivery, now: number): ClaimedDelivery {
  const { id, attempts, redrives, orderingKey, envelope, createdAt } = delivery;
  return { id, attempts, redrives, orderingKey, ageMs: now - createdAt, envelope, problem: undefined };
}

function toReaped(delivery: InMemoryDelivery): ReapedDelivery {
  const { id, attempts, orderingKey, envelope } = delivery;
  return { id, eventId: envelope.id, attempts, orderingKey, type: envelope.type };
}
