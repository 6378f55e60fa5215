import type { EventEnvelope } from '../../libs/outbox/src/event/index.js';
import type { Claim } from '../../libs/outbox/src/store/index.js';
import type { InMemoryDelivery } from '../../libs/outbox/src/testing/index.js';

/** What is known of a delivery from the calls alone, without believing the store. */
export interface LedgerEntry {
  readonly id: string;
  readonly event: EventEnvelope;
  readonly orderingKey: string | undefined;
  readonly lane: number | undefined;
  state: 'pending' | 'dead' | 'gone';
  /** Claims that took it, less the refunds, since it was emitted or redriven. */
  attempts: number;
  /** Of its last claim. */
  token: number;
  /** That claim has not told its outcome. */
  isOpen: boolean;
  /** Later events of its key have been let past it, for good. */
  isPassed: boolean;
  isDiscarded: boolean;
  /** How often the destination took it in. */
  arrivals: number;
}

export interface ClaimRecord {
  readonly claim: Claim;
  /** Until when its process may believe in the lease, by the process's own clock. */
  deadline: number;
  readonly published: Set<string>;
  /** Deliveries whose success was told to the dispatcher. */
  readonly acknowledged: Set<string>;
}

export interface BreakerRecord {
  failures: number;
  resumeAt: number;
}

/** How often things happened that a run need not have; a suite in which they never happen checks nothing. */
export interface Counts {
  claims: number;
  takeovers: number;
  reaped: number;
  renewals: number;
  staleWrites: number;
  lateSuccesses: number;
  repeatedArrivals: number;
  stalePublications: number;
  probes: number;
  crashes: number;
  redriven: number;
  skipped: number;
  publications: number;
  /** Longest time until everything is settled once nothing goes wrong any more. */
  longestCalmMs: number;
}

/** The independent account that the checks compare the store and the dispatchers with. */
export class Ledger {
  /** Oldest first. */
  readonly entries = new Map<string, LedgerEntry>();
  readonly claims = new Map<number, ClaimRecord>();
  /** Who has each lane, and whether it was given back. */
  readonly lanes = new Map<number, { token: number; isOpen: boolean }>();
  readonly breaker: BreakerRecord = { failures: 0, resumeAt: 0 };
  readonly counts: Counts = {
    claims: 0,
    takeovers: 0,
    reaped: 0,
    renewals: 0,
    staleWrites: 0,
    lateSuccesses: 0,
    repeatedArrivals: 0,
    stalePublications: 0,
    probes: 0,
    crashes: 0,
    redriven: 0,
    skipped: 0,
    publications: 0,
    longestCalmMs: 0,
  };

  open({ id, envelope, orderingKey, lane }: InMemoryDelivery): void {
    this.entries.set(id, {
      id,
      event: envelope,
      orderingKey,
      lane,
      state: 'pending',
      attempts: 0,
      token: 0,
      isOpen: false,
      isPassed: false,
      isDiscarded: false,
      arrivals: 0,
    });
  }

  entry(id: string): LedgerEntry {
    const entry = this.entries.get(id);
    if (entry === undefined) throw new Error(`delivery ${id} was never written`);
    return entry;
  }

  claim(token: string): ClaimRecord {
    const record = this.claims.get(Number(token));
    if (record === undefined) throw new Error(`no claim with token ${token} took effect`);
    return record;
  }

  /** Events of the same aggregate that were committed before it and may still have to be delivered before it. */
  aheadOf(entry: LedgerEntry): LedgerEntry[] {
    if (entry.orderingKey === undefined) return [];
    return [...this.entries.values()].filter(
      (other) =>
        other.orderingKey === entry.orderingKey &&
        Number(other.id) < Number(entry.id) &&
        other.state !== 'gone' &&
        !other.isPassed,
    );
  }

  hasLane(claim: Claim): boolean {
    return claim.lane === undefined || this.lanes.get(claim.lane)?.token === Number(claim.token);
  }
}
