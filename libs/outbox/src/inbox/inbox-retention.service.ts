import { wholeNumber } from '../config/index.js';
import type { ProcessedEventRetention } from '../store/index.js';

/** What pruning the inbox removed. */
export interface InboxPrunedRows {
  /** Records of processed events. */
  readonly records: number;
  /** Counts of failures of messages that were not parked. */
  readonly failures: number;
  /** True when it stopped because another process was pruning, which goes on. */
  readonly yielded: boolean;
}

export interface InboxPruneOptions {
  /** Rows of each table removed by one transaction; 1 to 100,000, default 1,000. */
  readonly batchSize?: number;
  /** Longest wait for a lock in ms; 1 to 60,000, default 200. SQLite goes by its own busy timeout. */
  readonly lockTimeoutMs?: number;
}

/**
 * Deletes the records of processed events that are older than the dedupe window, in small batches, and with them the counts
 * of failures. Parked messages stay until somebody decides.
 */
export class InboxRetentionService {
  constructor(
    private readonly retention: ProcessedEventRetention,
    private readonly dedupeWindowMs: number,
  ) {}

  /**
   * Runs until nothing is left to remove. Several processes may do it at once: one at a time works, the others do nothing.
   *
   * @param signal stops after the running batch.
   * @throws what the database throws, also when a lock is not to be had in time: the batches before stay done.
   */
  async prune(options: InboxPruneOptions = {}, signal?: AbortSignal): Promise<InboxPrunedRows> {
    const request = {
      olderThanMs: this.dedupeWindowMs,
      batchSize: wholeNumber('batchSize', options.batchSize, 1000, 1, 100_000),
      lockTimeoutMs: wholeNumber('lockTimeoutMs', options.lockTimeoutMs, 200, 1, 60_000),
    };
    let total: InboxPrunedRows = { records: 0, failures: 0, yielded: false };
    while (!signal?.aborted) {
      const turn = await this.retention.prune(request);
      if (!turn.isOurs) return { ...total, yielded: true };
      const { records, failures } = turn.result;
      if (records === 0 && failures === 0) break;
      total = { records: total.records + records, failures: total.failures + failures, yielded: false };
    }
    return total;
  }
}
