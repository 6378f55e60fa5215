import type { Claim, Finalization, TripRequest } from '../../libs/outbox/src/store/index.js';
import type { Effect } from './check-claim.js';
import type { Ledger, LedgerEntry } from './ledger.js';
import { changedLanes, changedRows } from './queue-snapshot.js';

interface Expected {
  readonly status: 'pending' | 'dead' | 'gone';
  readonly refund: number;
  readonly availableAt?: number;
  /** Undefined: as before. */
  readonly holdsKey?: boolean;
}

/** What carries the token changes as told, nothing else does, and the answer says how much was missed. */
export function checkFinalize(
  ledger: Ledger,
  claim: Claim,
  outcomes: Finalization,
  missed: number,
  effect: Effect,
): void {
  const { before, after, complain } = effect;
  checkOutcomes(ledger, claim, outcomes, complain);
  const hasLane = ledger.hasLane(claim);
  const expected = expectedChanges(outcomes, before.now);
  const applied = [...expected.keys()].filter((id) =>
    isCurrent(ledger, claim, id, expected.get(id)?.status === 'gone'),
  );
  const changed = changedRows(before, after);
  for (const id of changed) {
    if (!applied.includes(id)) complain(`token ${claim.token} changed delivery ${id}, which it does not hold`);
  }
  if (missed !== expected.size - applied.length)
    complain(`the finalize told ${missed} missed, ${expected.size - applied.length} were`);
  if (missed > 0) ledger.counts.staleWrites += 1;
  for (const id of applied) {
    const change = expected.get(id);
    if (change !== undefined) applyChange(ledger, ledger.entry(id), change, effect);
  }
  for (const lane of changedLanes(before, after)) {
    if (lane !== claim.lane || !hasLane) complain(`token ${claim.token} changed lane ${lane}, which it does not hold`);
  }
  if (claim.lane === undefined || !hasLane) return;
  if (after.lanes.get(claim.lane)?.leaseUntil !== undefined) complain(`lane ${claim.lane} was not given back`);
  ledger.lanes.set(claim.lane, { token: Number(claim.token), isOpen: false });
}

/** Every delivery of the claim has one outcome, a success was acknowledged, and only a publication costs an attempt. */
function checkOutcomes(ledger: Ledger, claim: Claim, outcomes: Finalization, complain: Effect['complain']): void {
  const { published, acknowledged } = ledger.claim(claim.token);
  const { delivered, rescheduled, dead, released } = outcomes;
  const costly = [...rescheduled.filter(({ refundAttempt }) => !refundAttempt), ...dead].map(({ id }) => id);
  for (const id of delivered) if (!acknowledged.has(id)) complain(`delivery ${id} is told delivered unacknowledged`);
  for (const id of costly) if (!published.has(id)) complain(`delivery ${id} lost an attempt without being published`);
  for (const { id, blocksKey } of dead) {
    const policy = ledger.entry(id).event.type === 'skipping' ? 'skip' : 'block';
    if (blocksKey !== (policy === 'block'))
      complain(`dead letter ${id} blocks its key: ${blocksKey}, by policy ${policy}`);
  }
  const told = [...delivered, ...released, ...[...rescheduled, ...dead].map(({ id }) => id)].toSorted();
  const held = claim.deliveries.map(({ id }) => id).toSorted();
  if (told.join() !== held.join()) complain(`token ${claim.token} holds ${held} and tells the outcomes of ${told}`);
}

function expectedChanges(outcomes: Finalization, now: number): Map<string, Expected> {
  return new Map<string, Expected>([
    ...outcomes.delivered.map((id): [string, Expected] => [id, { status: 'gone', refund: 0 }]),
    ...outcomes.released.map((id): [string, Expected] => [id, { status: 'pending', refund: 1 }]),
    ...outcomes.rescheduled.map((one): [string, Expected] => [
      one.id,
      { status: 'pending', refund: one.refundAttempt ? 1 : 0, availableAt: now + one.delayMs, holdsKey: true },
    ]),
    ...outcomes.dead.map((one): [string, Expected] => [one.id, { status: 'dead', refund: 0, holdsKey: one.blocksKey }]),
  ]);
}

/** A success counts while nobody has taken over; everything else needs the lease and the lane as well. */
function isCurrent(ledger: Ledger, claim: Claim, id: string, isSuccess: boolean): boolean {
  const entry = ledger.entry(id);
  if (entry.token !== Number(claim.token) || entry.state === 'gone') return false;
  if (isSuccess) return true;
  return entry.isOpen && entry.state === 'pending' && (entry.lane === undefined || ledger.hasLane(claim));
}

function applyChange(ledger: Ledger, entry: LedgerEntry, change: Expected, { after, complain }: Effect): void {
  if (change.status === 'gone' && entry.arrivals === 0) complain(`delivery ${entry.id} is done, but never arrived`);
  if (change.status === 'gone' && entry.state === 'dead') ledger.counts.lateSuccesses += 1;
  entry.attempts -= change.refund;
  entry.state = change.status;
  entry.isOpen = false;
  const row = after.rows.get(entry.id);
  const status = row === undefined || row.status === 'done' ? 'gone' : row.status;
  if (status !== change.status) complain(`delivery ${entry.id} is ${status} and should be ${change.status}`);
  if (row === undefined || status === 'gone') return;
  const isOrdered = entry.lane !== undefined;
  if (row.attempts !== entry.attempts)
    complain(`delivery ${entry.id} has spent ${entry.attempts} attempts: ${row.attempts} stored`);
  if (row.leaseUntil !== undefined) complain(`delivery ${entry.id} has its outcome and is still leased`);
  if (change.availableAt !== undefined && row.availableAt !== change.availableAt)
    complain(`delivery ${entry.id} comes back at another time`);
  if (change.holdsKey !== undefined && row.holdsKey !== (isOrdered && change.holdsKey))
    complain(`delivery ${entry.id} holds its key: ${row.holdsKey}`);
  if (change.status === 'dead' && change.holdsKey === false) entry.isPassed = true;
}

/** Only what is still held is extended; a lane that was given back stays free. */
export function checkRenew(
  ledger: Ledger,
  claim: Claim,
  ids: readonly string[],
  renewed: number,
  effect: Effect,
): void {
  const { before, after, complain } = effect;
  const token = Number(claim.token);
  const lane = claim.lane === undefined ? undefined : ledger.lanes.get(claim.lane);
  const isLaneHeld = lane?.token === token && lane.isOpen;
  const held = ids.filter((id) => {
    const entry = ledger.entry(id);
    return entry.token === token && entry.isOpen && (entry.lane === undefined || isLaneHeld);
  });
  for (const id of changedRows(before, after)) {
    if (!held.includes(id)) complain(`token ${token} renewed delivery ${id}, which it does not hold`);
  }
  for (const number of changedLanes(before, after)) {
    if (number !== claim.lane || !isLaneHeld) complain(`token ${token} renewed lane ${number}, which it does not hold`);
  }
  if (renewed !== held.length) complain(`the renewal told ${renewed} held, ${held.length} were`);
  ledger.counts.renewals += 1;
}

/** The time of the next probe moves as the verdicts say. */
export function noteTrip({ breaker }: Ledger, request: TripRequest, told: number, { before, complain }: Effect): void {
  const pauseMs = (): number => Math.min(request.capMs, request.baseMs * 2 ** breaker.failures) * request.jitter;
  if (request.isProbe || breaker.failures === 0) {
    breaker.resumeAt = before.now + pauseMs();
    breaker.failures += 1;
  }
  const expected = Math.min(pauseMs(), Math.max(0, breaker.resumeAt - before.now));
  if (Math.abs(told - expected) > 0.001) complain(`the pause is ${told} ms and should be ${expected}`);
}
