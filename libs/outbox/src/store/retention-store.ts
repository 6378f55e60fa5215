import type { Turn } from './turns.js';

export interface PruneRequest {
  /** By the database's clock. */
  readonly olderThanMs: number;
  /** Most rows removed from each table. */
  readonly batchSize: number;
  /** Longest wait for a lock. */
  readonly lockTimeoutMs: number;
}

/** What one batch of events came to. */
export interface PrunedBatch {
  readonly pruned: number;
  /** Where the next batch of this table goes on; undefined at its end. */
  readonly next: string | undefined;
}

/** What pruning removed. */
export interface PrunedRows {
  /** Delivered deliveries that were kept or archived. */
  readonly deliveries: number;
  /** Events of the log. */
  readonly events: number;
  /** True when it stopped because another process was pruning, which goes on. */
  readonly yielded: boolean;
}

/**
 * Contract: each call is a short transaction of its own, which removes at most `batchSize` rows of a table and never an
 * event that is not delivered, and which does nothing while another process is pruning the same tables.
 */
export interface RetentionStore {
  /** Qualified names of the tables that hold events; without those of whole days, which are dropped and not pruned. */
  eventTables(options: { readonly includeDays: boolean }): Promise<readonly string[]>;
  /** @returns how many deliveries were removed. */
  pruneDeliveries(request: PruneRequest): Promise<Turn<number>>;
  /** @param after where the batch before ended; undefined for the first. */
  pruneEvents(table: string, after: string | undefined, request: PruneRequest): Promise<Turn<PrunedBatch>>;
}
