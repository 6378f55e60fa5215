/** What one round of pruning removed. */
export interface PrunedRows {
  /** Delivered deliveries that were kept or archived. */
  readonly deliveries: number;
  /** Events of the log. */
  readonly events: number;
}

/** Contract: removes at most `batchSize` rows of a table in one call, and never an event that is not delivered. */
export interface RetentionStore {
  prune(olderThanMs: number, batchSize: number): Promise<PrunedRows>;
}
