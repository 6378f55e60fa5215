import type { Completion } from '../config/index.js';
import type { Claim, DeadLettered, Finalization, Rescheduled } from '../store/index.js';
import type { InMemoryDelivery, InMemoryQueue } from './in-memory-queue.js';

/**
 * Writes the outcomes of one claim under its token and gives its lane back. A success counts for every delivery that
 * carries the token; everything else needs a lease too, ended or not, and for ordered deliveries the lane.
 *
 * @returns how many deliveries changed.
 */
export function writeOutcomes(
  queue: InMemoryQueue,
  claim: Claim,
  outcomes: Finalization,
  completion: Completion,
): number {
  const token = Number(claim.token);
  const lane = queue.laneOf(claim.destination, claim.lane);
  const isLaneOurs = claim.lane === undefined || lane?.token === token;
  if (lane !== undefined && isLaneOurs) lane.leaseUntil = undefined;

  const underToken = (id: string): InMemoryDelivery[] => {
    const delivery = queue.deliveries.get(id);
    return delivery?.token === token ? [delivery] : [];
  };
  const underLease = (id: string): InMemoryDelivery[] =>
    underToken(id).filter(
      (one) =>
        one.status === 'pending' && one.leaseUntil !== undefined && (one.orderingKey === undefined || isLaneOurs),
    );

  const delivered = outcomes.delivered.flatMap(underToken).filter((one) => one.status !== 'done');
  for (const delivery of delivered) complete(queue, delivery, completion);
  let changed = delivered.length;
  const writeEach = <Outcome extends { readonly id: string }>(
    given: readonly Outcome[],
    write: (delivery: InMemoryDelivery, outcome: Outcome) => void,
  ): void => {
    for (const outcome of given) {
      for (const delivery of underLease(outcome.id)) {
        delivery.leaseUntil = undefined;
        write(delivery, outcome);
        changed += 1;
      }
    }
  };
  writeEach(outcomes.rescheduled, (delivery, outcome) => reschedule(delivery, outcome, queue.clock()));
  writeEach(outcomes.dead, bury);
  writeEach(
    outcomes.released.map((id) => ({ id })),
    refund,
  );
  return changed;
}

function complete(queue: InMemoryQueue, delivery: InMemoryDelivery, completion: Completion): void {
  if (completion !== 'keep') queue.deliveries.delete(delivery.id);
  if (completion === 'archive') queue.archive.push(delivery);
  delivery.status = 'done';
  delivery.holdsKey = false;
  delivery.leaseUntil = undefined;
  delivery.lastError = undefined;
}

function reschedule(delivery: InMemoryDelivery, outcome: Rescheduled, now: number): void {
  delivery.availableAt = now + outcome.delayMs;
  delivery.holdsKey = delivery.orderingKey !== undefined;
  delivery.lastError = outcome.error;
  if (outcome.refundAttempt) refund(delivery);
}

function bury(delivery: InMemoryDelivery, outcome: DeadLettered): void {
  delivery.status = 'dead';
  delivery.holdsKey = delivery.orderingKey !== undefined && outcome.blocksKey;
  delivery.lastError = outcome.error;
}

function refund(delivery: InMemoryDelivery): void {
  delivery.attempts -= 1;
}
