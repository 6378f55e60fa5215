import type { EventEnvelope } from '../event/index.js';

export interface ClaimRequest {
  readonly destination: string;
  /** Who claims, for people; correctness rests on the token alone. */
  readonly owner: string;
  readonly leaseMs: number;
  /** Most deliveries taken, of ordered and of unordered ones each. */
  readonly batchSize: number;
  /** Most payload bytes taken, of ordered and of unordered deliveries each; the first is taken whatever its size. */
  readonly batchBytes: number;
  readonly maxAttempts: number;
  /**
   * A hint: nothing that is due is expected among the unordered deliveries that became available before this time, in
   * µs since 1970. Undefined to look at all of them.
   */
  readonly fromUs?: number | undefined;
}

/** One event on its way to one destination, under the token of its claim. */
export interface ClaimedDelivery {
  readonly id: string;
  /** Attempts including this one, since the last redrive. */
  readonly attempts: number;
  /** Number of the change by hand, a redrive or a replay, that it was last sent by; 0 for none. */
  readonly redrives: number;
  /** 64-bit key of the aggregate; undefined for unordered events. */
  readonly orderingKey: string | undefined;
  /** Milliseconds since the delivery was written, by the database's clock. */
  readonly ageMs: number;
  /** Undefined when the row in the log is missing or cannot be read; `problem` says why. */
  readonly envelope: EventEnvelope | undefined;
  readonly problem: string | undefined;
}

/** A delivery that went to the dead letters at this claim: its last attempt ended without an outcome. */
export interface ReapedDelivery {
  readonly id: string;
  readonly eventId: string;
  readonly attempts: number;
  readonly orderingKey: string | undefined;
  readonly type: string | undefined;
}

export interface Claim {
  /** Fencing token; every later write names it. */
  readonly token: string;
  readonly destination: string;
  /** The lane leased with this claim; undefined when it holds no ordered deliveries. */
  readonly lane: number | undefined;
  /** The destination could not be reached before; this claim's single delivery finds out whether it can now. */
  readonly isProbe: boolean;
  readonly deliveries: readonly ClaimedDelivery[];
  readonly reaped: readonly ReapedDelivery[];
  /**
   * When the last of the unordered deliveries became available, in µs since 1970, if the claim took as many as it might;
   * undefined when it has left none that is due.
   */
  readonly lastUs: number | undefined;
}

export type ClaimAnswer =
  | { readonly kind: 'claimed'; readonly claim: Claim }
  /**
   * Nothing is due, or this was to be the probe (`isProbe`) and got nothing; give it back then. `nextDueMs`: how long
   * until something that waits for its time is due; undefined when nothing waits.
   */
  | { readonly kind: 'nothing'; readonly isProbe: boolean; readonly nextDueMs?: number | undefined }
  /** There is ordered work, but another dispatcher was just then taking it or giving it back; ask again in a moment. */
  | { readonly kind: 'contended' }
  /** Somebody has paused the destination. */
  | { readonly kind: 'paused-by-hand' }
  /** The destination could not be reached; it is left alone for that long, or until a probe reaches it. */
  | { readonly kind: 'paused'; readonly resumeMs: number };

export interface Rescheduled {
  readonly id: string;
  /** From now, by the database's clock. */
  readonly delayMs: number;
  readonly refundAttempt: boolean;
  readonly error: string;
}

export interface DeadLettered {
  readonly id: string;
  readonly error: string;
  /** Ordered events: hold the later ones of the aggregate until a person decides. */
  readonly blocksKey: boolean;
}

/** What became of the deliveries of one claim; each delivery stands in one list. */
export interface Finalization {
  readonly delivered: readonly string[];
  readonly rescheduled: readonly Rescheduled[];
  readonly dead: readonly DeadLettered[];
  /** Not tried: available again at once, attempt refunded. */
  readonly released: readonly string[];
}

/**
 * The queue of deliveries. Contract: the database's clock decides; every write after the claim names its token and
 * changes only deliveries that still carry it; two claims never hold one delivery, nor one lane, under valid leases.
 */
export interface DeliveryStore {
  /** Makes a destination known. Called once before its first claim. */
  prepare(destination: string): Promise<void>;
  /** Counts the attempt of what it takes. */
  claim(request: ClaimRequest): Promise<ClaimAnswer>;
  /** Extends the lease of what is still held; answers how many of `ids` were. */
  renew(claim: Claim, ids: readonly string[], leaseMs: number): Promise<number>;
  /** Writes all outcomes and gives the lane back; answers how many were not held any more and did not change. */
  finalize(claim: Claim, outcomes: Finalization): Promise<number>;
  /** `finalize` and then `claim`, both or neither: one round trip and one commit for the whole step from batch to batch. */
  finalizeAndClaim(
    claim: Claim,
    outcomes: Finalization,
    request: ClaimRequest,
  ): Promise<{ readonly missed: number; readonly answer: ClaimAnswer }>;
  /** Lets the followers of dead letters pass. */
  unblock(ids: readonly string[]): Promise<void>;
}
