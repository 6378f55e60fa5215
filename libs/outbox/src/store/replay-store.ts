import type { ManualChange } from './manual-change.js';

/** Which delivered events: all conditions given must hold. */
export interface ReplayFilter {
  readonly destination?: string;
  readonly eventIds?: readonly string[];
  readonly type?: string;
  readonly aggregateType?: string;
  readonly aggregateId?: string;
  /** By the time at which the event was emitted. */
  readonly emittedBefore?: Date;
  readonly emittedAfter?: Date;
}

/** What a replay would send to a destination. */
export interface ReplayPreview {
  readonly destination: string;
  readonly count: number;
  readonly oldest: Date;
  readonly newest: Date;
}

/** An event that was delivered, to be sent to a destination again. */
export interface ReplayedDelivery {
  readonly eventId: string;
  readonly destination: string;
  readonly aggregateType: string;
  readonly aggregateId: string;
  readonly isOrdered: boolean;
}

/** Contract: reads the log and queues anew; what is on its way, or dead, is not touched. */
export interface ReplayStore {
  preview(filter: ReplayFilter): Promise<readonly ReplayPreview[]>;
  /** In the order in which the events were written. */
  select(filter: ReplayFilter, limit: number): Promise<readonly ReplayedDelivery[]>;
  /** Writes down who replays and why. @returns the number of the operation. */
  begin(filter: ReplayFilter, change: ManualChange): Promise<number>;
  /** @returns how many were queued. */
  queue(operation: number, by: string, deliveries: readonly ReplayedDelivery[]): Promise<number>;
}
