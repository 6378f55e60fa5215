import type { ResolvedDestination } from '../config/index.js';
import { storableText } from '../errors/index.js';
import type { OnDead } from '../event/index.js';
import { fullJitterMs, type Random } from '../runtime/index.js';
import type { ClaimedDelivery, DeadLettered, Finalization, Rescheduled } from '../store/index.js';
import type { PublishOutcome } from '../transports/index.js';

/** What the decision needs to know beside the outcome. */
export interface SettlementRules {
  readonly destination: ResolvedDestination;
  readonly onDead: (type: string | undefined) => OnDead;
  /** How long the destination will be left alone after an `unreachable`. */
  readonly pauseMs: number;
  readonly random: Random;
}

/** Turns the outcomes of a batch into what is written: the one place where attempts, ages and policies decide. */
export function settleOutcomes(
  deliveries: readonly ClaimedDelivery[],
  outcomeOf: (delivery: ClaimedDelivery) => PublishOutcome,
  rules: SettlementRules,
): Finalization {
  const delivered: string[] = [];
  const rescheduled: Rescheduled[] = [];
  const dead: DeadLettered[] = [];
  const released: string[] = [];
  const bury = (delivery: ClaimedDelivery, error: string): void => {
    const blocksKey = rules.onDead(delivery.envelope?.type) === 'block';
    dead.push({ id: delivery.id, error: storableText(error), blocksKey });
  };
  const reschedule = (delivery: ClaimedDelivery, delayMs: number, refundAttempt: boolean, error: string): void => {
    rescheduled.push({ id: delivery.id, delayMs, refundAttempt, error: storableText(error) });
  };

  for (const delivery of deliveries) {
    const outcome = outcomeOf(delivery);
    const { maxAttempts, maxDeferAgeMs, retryBaseMs, retryCapMs } = rules.destination;
    switch (outcome.kind) {
      case 'delivered':
        delivered.push(delivery.id);
        break;
      case 'retry':
        if (delivery.attempts >= maxAttempts)
          bury(delivery, `retries exhausted after ${delivery.attempts}: ${outcome.error}`);
        else
          reschedule(
            delivery,
            fullJitterMs(delivery.attempts, retryBaseMs, retryCapMs, rules.random),
            false,
            outcome.error,
          );
        break;
      case 'defer':
        if (delivery.ageMs >= maxDeferAgeMs)
          bury(delivery, `deferred for longer than ${maxDeferAgeMs} ms: ${outcome.reason}`);
        else
          reschedule(
            delivery,
            boundedDelay(outcome.delayMs, retryBaseMs, maxDeferAgeMs),
            true,
            `deferred: ${outcome.reason}`,
          );
        break;
      case 'dead':
        bury(delivery, outcome.error);
        break;
      case 'unreachable':
        reschedule(delivery, rules.pauseMs, true, `destination unreachable: ${outcome.error}`);
        break;
      case 'held':
        released.push(delivery.id);
        break;
    }
  }
  return holdBackFollowers(deliveries, { delivered, rescheduled, dead, released });
}

/**
 * A delay that a transport made up, for example of a header, must be a time that PostgreSQL can add, and none at all
 * would go round without end.
 */
function boundedDelay(delayMs: number, fallbackMs: number, maxMs: number): number {
  return delayMs > 0 ? Math.min(delayMs, maxMs) : fallbackMs;
}

/**
 * Only the first undelivered event of a key may hold it: what failed behind it (a transport that broke its promise of
 * order) is released, so that it comes again after it.
 */
function holdBackFollowers(deliveries: readonly ClaimedDelivery[], outcomes: Finalization): Finalization {
  const undelivered = new Set([...outcomes.rescheduled, ...outcomes.dead].map(({ id }) => id));
  const heldKeys = new Set<string>();
  const followers: string[] = [];
  for (const { id, orderingKey } of deliveries) {
    if (orderingKey === undefined || !undelivered.has(id)) continue;
    if (heldKeys.has(orderingKey)) followers.push(id);
    heldKeys.add(orderingKey);
  }
  if (followers.length === 0) return outcomes;
  const isFollower = ({ id }: { id: string }): boolean => followers.includes(id);
  return {
    delivered: outcomes.delivered,
    rescheduled: outcomes.rescheduled.filter((one) => !isFollower(one)),
    dead: outcomes.dead.filter((one) => !isFollower(one)),
    released: [...outcomes.released, ...followers],
  };
}
