import type { ClaimRecord, Ledger, LedgerEntry } from './ledger.js';

export interface Publication {
  readonly record: ClaimRecord;
  readonly entry: LedgerEntry;
  /** When the dispatcher called the transport, by the clock of the process. */
  readonly startedAt: number;
  readonly complain: (problem: string) => void;
}

/**
 * A call begins only under a lease in which its process may believe. Each delivery is published once per claim, and,
 * while that lease is in fact current, only when everything ahead of it in its key is out of the way or was
 * acknowledged to the same claim.
 *
 * @returns whether the lease was current.
 */
export function checkPublicationBegins(ledger: Ledger, { record, entry, startedAt, complain }: Publication): boolean {
  const { claim, published, acknowledged, deadline } = record;
  ledger.counts.publications += 1;
  if (published.has(entry.id)) complain(`delivery ${entry.id} is published twice under token ${claim.token}`);
  published.add(entry.id);
  if (startedAt >= deadline) {
    complain(`delivery ${entry.id} is published under token ${claim.token}, whose lease ended before the call`);
  }
  if (!isCurrent(ledger, record, entry)) {
    // The database's clock went ahead of ours, or we stood still within the call: at least once, and bounded above.
    ledger.counts.stalePublications += 1;
    return false;
  }
  for (const ahead of ledger.aheadOf(entry)) {
    if (acknowledged.has(ahead.id)) continue;
    complain(`delivery ${entry.id} is published although ${ahead.id} of its key is ${ahead.state}`);
  }
  return true;
}

function isCurrent(ledger: Ledger, { claim }: ClaimRecord, entry: LedgerEntry): boolean {
  const token = Number(claim.token);
  if (entry.lane === undefined) return entry.token === token && entry.isOpen;
  const lane = ledger.lanes.get(entry.lane);
  return lane?.token === token && lane.isOpen;
}
