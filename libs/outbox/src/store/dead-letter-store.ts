import type { EventHeaders } from '../event/index.js';
import type { ChangedDeliveries, ManualChange } from './manual-change.js';

/** An event that was given up for one destination. */
export interface DeadLetter {
  /** Id of the delivery, by which it is redriven or discarded. */
  readonly id: string;
  readonly eventId: string;
  readonly destination: string;
  readonly type: string | undefined;
  readonly aggregateType: string | undefined;
  readonly aggregateId: string | undefined;
  readonly attempts: number;
  readonly error: string | undefined;
  readonly createdAt: Date;
  /** True when later events of its aggregate wait for a decision about this one. */
  readonly blocksKey: boolean;
}

/** One entry of what a delivery went through. */
export interface AttemptRecord {
  readonly at: Date;
  /** Number of the attempt that failed, and why; undefined for a redrive. */
  readonly attempt: number | undefined;
  readonly error: string | undefined;
  /** Who sent it again; undefined for an attempt. */
  readonly redrivenBy: string | undefined;
}

/** A dead letter with everything that is known of it. What is of the event is undefined when it is not in the log any more. */
export interface DeadLetterDetails extends DeadLetter {
  /** The newest 20, oldest first. */
  readonly history: readonly AttemptRecord[];
  /** Number of the redrive or replay that it was last sent by; 0 for none. */
  readonly redrives: number;
  /** How many later events of the aggregate wait behind it. */
  readonly followers: number;
  readonly emittedAt: Date | undefined;
  readonly version: number | undefined;
  readonly sequence: bigint | undefined;
  readonly headers: EventHeaders | undefined;
  /** JSON text. */
  readonly payload: string | undefined;
}

/** Which dead letters: all conditions given must hold. */
export interface DeadLetterFilter {
  readonly destination?: string;
  readonly ids?: readonly string[];
  readonly type?: string;
  readonly aggregateType?: string;
  readonly aggregateId?: string;
  /** By the time at which the delivery was written. */
  readonly createdBefore?: Date;
  readonly createdAfter?: Date;
}

export interface RedriveRequest {
  /** The oldest ones, at most so many. */
  readonly limit: number;
  /** One every so many ms; 0 for all at once. */
  readonly spacingMs: number;
}

/** Contract: shows dead letters only. */
export interface DeadLetterReader {
  count(filter: DeadLetterFilter): Promise<number>;
  show(id: string): Promise<DeadLetterDetails | undefined>;
}

/** Contract: each method touches dead letters only, never a delivery that is pending or done. */
export interface DeadLetterStore {
  /** Oldest first, those with a higher id than `after`. */
  list(filter: DeadLetterFilter, limit: number, after?: string): Promise<readonly DeadLetter[]>;
  /** Makes them available with their attempts at zero. */
  redrive(filter: DeadLetterFilter, change: ManualChange, request?: RedriveRequest): Promise<ChangedDeliveries>;
  /** Gives them up on purpose; their events stay in the log, and what they blocked goes on. */
  discard(filter: DeadLetterFilter, change: ManualChange, limit?: number): Promise<ChangedDeliveries>;
}
