import type { ClaimRequest } from '../store/index.js';
import type { InMemoryDelivery, InMemoryLane, InMemoryQueue } from './in-memory-queue.js';

/** Stored as the error of a delivery whose last attempt ended without an outcome. */
const REAPED_ERROR = 'the lease of the last attempt ended without an outcome (process died or hung)';

export interface DueDeliveries {
  /** Oldest first. */
  readonly taken: readonly InMemoryDelivery[];
  /** The lane of the ordered ones among them. */
  readonly lane: InMemoryLane | undefined;
  /** When the last unordered one became available, in µs since 1970; undefined unless some had to be left. */
  readonly lastUs: number | undefined;
}

/** What a claim takes now: due unordered deliveries, and those of the free lane whose turn it is. Changes nothing. */
export function selectDue(queue: InMemoryQueue, request: ClaimRequest, isProbe: boolean): DueDeliveries {
  const { batchSize, batchBytes, maxAttempts } = request;
  const now = queue.clock();
  const pending = queue.deliveriesOf(request.destination).filter((one) => one.status === 'pending');
  const unordered = pending
    .filter((one) => one.lane === undefined && one.availableAt <= now && hasEnded(one.leaseUntil, now))
    .filter((one) => request.fromUs === undefined || one.availableAt * 1000 >= request.fromUs)
    .sort((one, other) => one.availableAt - other.availableAt || byId(one, other))
    .slice(0, batchSize);
  const unorderedInReach = withinBytes(unordered, batchBytes);

  const heldKeys = keysHeld(queue, request.destination);
  // One that was never rescheduled is due whatever its time says: the clock may have gone back since.
  const eligible = pending.filter((one) => one.orderingKey !== undefined && !heldKeys.has(one.orderingKey));
  const lane = laneWhoseTurnItIs(queue, request.destination, eligible);
  const ofLane = eligible.filter((one) => one.lane === lane?.lane).slice(0, batchSize);
  const ordered = withoutFollowersOfSpent(ofLane, maxAttempts);

  const inReach = [...unorderedInReach, ...withinBytes(ordered, batchBytes)];
  const taken = isProbe ? inReach.slice(0, 1) : inReach.sort(byId);
  const lastTaken = unorderedInReach.filter((one) => taken.includes(one)).at(-1);
  const hasLeft = unordered.length === batchSize || unordered.some((one) => !taken.includes(one));
  return {
    taken,
    lane: taken.some((one) => one.lane !== undefined) ? lane : undefined,
    lastUs: hasLeft && lastTaken !== undefined ? lastTaken.availableAt * 1000 : undefined,
  };
}

/** Time until something that waits is due: of ordered deliveries only those that hold their key wait for a time. */
export function nextDueMs(queue: InMemoryQueue, destination: string): number | undefined {
  const now = queue.clock();
  const times = queue
    .deliveriesOf(destination)
    .filter((one) => one.status === 'pending' && one.availableAt > now && (one.lane === undefined || one.holdsKey))
    .map((one) => one.availableAt - now);
  return times.length === 0 ? undefined : Math.min(...times);
}

/** Its last attempt was spent, and nobody came to tell what became of it. */
export function isSpent(delivery: InMemoryDelivery, maxAttempts: number): boolean {
  return delivery.leaseUntil !== undefined && delivery.attempts >= maxAttempts;
}

/** Makes a dead letter of a spent delivery. The token stays: a success that comes late still counts. */
export function reap(delivery: InMemoryDelivery): void {
  delivery.status = 'dead';
  delivery.holdsKey = delivery.orderingKey !== undefined;
  delivery.leaseUntil = undefined;
  delivery.lastError = REAPED_ERROR;
}

function hasEnded(leaseUntil: number | undefined, now: number): boolean {
  return leaseUntil === undefined || leaseUntil < now;
}

function byId(one: InMemoryDelivery, other: InMemoryDelivery): number {
  return Number(one.id) - Number(other.id);
}

function keysHeld(queue: InMemoryQueue, destination: string): ReadonlySet<string | undefined> {
  const now = queue.clock();
  const holders = queue
    .deliveriesOf(destination)
    .filter((one) => one.holdsKey && (one.status === 'dead' || one.availableAt > now));
  return new Set(holders.map((one) => one.orderingKey));
}

function laneWhoseTurnItIs(
  queue: InMemoryQueue,
  destination: string,
  eligible: readonly InMemoryDelivery[],
): InMemoryLane | undefined {
  const now = queue.clock();
  const dueLanes = new Set(eligible.map((one) => one.lane));
  const [next] = queue.lanes
    .filter((one) => one.destination === destination && hasEnded(one.leaseUntil, now) && dueLanes.has(one.lane))
    .sort((one, other) => one.claimedAt - other.claimedAt);
  return next;
}

function withoutFollowersOfSpent(ofLane: readonly InMemoryDelivery[], maxAttempts: number): InMemoryDelivery[] {
  const spentKeys = new Set<string | undefined>();
  return ofLane.filter((one) => {
    if (spentKeys.has(one.orderingKey)) return false;
    if (isSpent(one, maxAttempts)) spentKeys.add(one.orderingKey);
    return true;
  });
}

/** The first is taken whatever its size. */
function withinBytes(deliveries: readonly InMemoryDelivery[], batchBytes: number): InMemoryDelivery[] {
  let bytesBefore = 0;
  return deliveries.filter((one) => {
    const fits = bytesBefore < batchBytes;
    bytesBefore += one.payloadBytes;
    return fits;
  });
}
