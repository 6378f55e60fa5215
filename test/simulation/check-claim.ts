import type { ClaimAnswer, ClaimedDelivery, ClaimRequest, ReapedDelivery } from '../../libs/outbox/src/store/index.js';
import type { Ledger, LedgerEntry } from './ledger.js';
import { changedLanes, changedRows, type QueueSnapshot } from './queue-snapshot.js';

/** A store operation, as it took effect. */
export interface Effect {
  readonly before: QueueSnapshot;
  readonly after: QueueSnapshot;
  readonly complain: (problem: string) => void;
}

/** At most one valid lease, attempts counted at the claim and bounded, order per key, the dead are reaped in time. */
export function checkClaim(ledger: Ledger, request: ClaimRequest, answer: ClaimAnswer, effect: Effect): void {
  checkBreakerAtClaim(ledger, request, answer, effect);
  const { before, after, complain } = effect;
  const claim = answer.kind === 'claimed' ? answer.claim : undefined;
  const taken = claim === undefined ? [] : [...claim.deliveries, ...claim.reaped].map(({ id }) => id);
  for (const id of changedRows(before, after)) {
    if (!taken.includes(id)) complain(`a claim changed delivery ${id}, which it did not take`);
  }
  for (const lane of changedLanes(before, after)) {
    if (lane !== claim?.lane) complain(`a claim changed lane ${lane}, which it did not take`);
  }
  if (claim === undefined) return;

  ledger.counts.claims += 1;
  const token = Number(claim.token);
  if ([...ledger.claims.keys()].some((other) => other >= token)) complain(`token ${token} is not new`);
  const deadLetters = new Set(claim.reaped.map(({ id }) => id));
  for (const delivery of claim.deliveries) {
    const entry = ledger.entry(delivery.id);
    checkTaken(ledger, entry, effect);
    for (const ahead of ledger.aheadOf(entry)) {
      const isTakenToo = taken.includes(ahead.id) && !deadLetters.has(ahead.id);
      if (!isTakenToo)
        complain(`delivery ${entry.id} was claimed before ${ahead.id} of its key, which is ${ahead.state}`);
    }
    spendAttempt(
      entry,
      delivery,
      { token, maxAttempts: request.maxAttempts, until: before.now + request.leaseMs },
      effect,
    );
    if (entry.lane !== claim.lane && entry.lane !== undefined) complain(`delivery ${entry.id} is of another lane`);
  }
  for (const delivery of claim.reaped) checkReaped(ledger, delivery, request.maxAttempts, effect);
  if (claim.lane !== undefined) leaseLane(ledger, claim.lane, token, effect);
}

/** Nobody else may hold it: its last lease has ended, or its lane was taken from under it. */
function checkTaken(ledger: Ledger, entry: LedgerEntry, { before, complain }: Effect): void {
  const row = before.rows.get(entry.id);
  if (row?.status !== 'pending') complain(`delivery ${entry.id} was claimed although it is ${row?.status ?? 'gone'}`);
  const hasEnded = row?.leaseUntil === undefined || row.leaseUntil < before.now;
  const hasLostLane = entry.lane !== undefined && ledger.lanes.get(entry.lane)?.token !== entry.token;
  if (!hasEnded && !hasLostLane)
    complain(`delivery ${entry.id} was claimed under the valid lease of token ${entry.token}`);
  if (entry.isOpen) ledger.counts.takeovers += 1;
}

function spendAttempt(
  entry: LedgerEntry,
  claimed: ClaimedDelivery,
  lease: { readonly token: number; readonly maxAttempts: number; readonly until: number },
  { after, complain }: Effect,
): void {
  entry.attempts += 1;
  entry.token = lease.token;
  entry.isOpen = true;
  const row = after.rows.get(entry.id);
  if (claimed.attempts !== entry.attempts || row?.attempts !== entry.attempts) {
    const told = `${claimed.attempts} told, ${row?.attempts} stored`;
    complain(`delivery ${entry.id} has spent ${entry.attempts} attempts: ${told}`);
  }
  if (entry.attempts > lease.maxAttempts)
    complain(`delivery ${entry.id} is in attempt ${entry.attempts} of ${lease.maxAttempts}`);
  if (row?.token !== lease.token || row.leaseUntil !== lease.until)
    complain(`delivery ${entry.id} is not leased to its claim`);
}

function checkReaped(ledger: Ledger, { id }: ReapedDelivery, maxAttempts: number, effect: Effect): void {
  const entry = ledger.entry(id);
  checkTaken(ledger, entry, effect);
  const row = effect.after.rows.get(id);
  if (!entry.isOpen || entry.attempts < maxAttempts) {
    effect.complain(`delivery ${id} was reaped after ${entry.attempts} of ${maxAttempts} attempts`);
  }
  if (row?.status !== 'dead' || row.attempts !== entry.attempts || row.holdsKey !== (entry.lane !== undefined)) {
    effect.complain(`delivery ${id} was reaped, but is not as a dead letter must be`);
  }
  ledger.counts.reaped += 1;
  entry.state = 'dead';
  entry.isOpen = false;
}

function leaseLane(ledger: Ledger, lane: number, token: number, { before, complain }: Effect): void {
  const row = before.lanes.get(lane);
  if (row?.leaseUntil !== undefined && row.leaseUntil >= before.now) {
    complain(`lane ${lane} was claimed under the valid lease of token ${row.token}`);
  }
  ledger.lanes.set(lane, { token, isOpen: true });
}

/** While a destination is left alone, one claim at a time gets one delivery, and only when the pause is over. */
function checkBreakerAtClaim(ledger: Ledger, request: ClaimRequest, answer: ClaimAnswer, effect: Effect): void {
  const { breaker } = ledger;
  const { now } = effect.before;
  const isProbe = answer.kind === 'claimed' ? answer.claim.isProbe : answer.kind === 'nothing' && answer.isProbe;
  if (breaker.failures === 0) {
    if (isProbe || answer.kind === 'paused')
      effect.complain(`a claim was ${answer.kind} as if the destination was down`);
    return;
  }
  const isPaused = breaker.resumeAt > now;
  if (isPaused !== (answer.kind === 'paused'))
    effect.complain(`a claim was ${answer.kind} while the pause ${isPaused ? 'lasts' : 'is over'}`);
  if (isPaused) return;
  if (!isProbe) effect.complain('a claim that is no probe got through to a destination that could not be reached');
  if (answer.kind === 'claimed' && answer.claim.deliveries.length + answer.claim.reaped.length > 1) {
    effect.complain('a probe took more than one delivery');
  }
  ledger.counts.probes += 1;
  breaker.resumeAt = now + request.leaseMs;
}
