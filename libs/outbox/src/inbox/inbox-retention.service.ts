import { wholeNumber } from '../config/index.js';
import type { FailedMessageStore, ProcessedEventRetention } from '../store/index.js';

/**
 * Deletes the records of processed events that are older than the dedupe window, in small batches, and with them the counts
 * of failures. Parked messages stay until somebody decides.
 */
export class InboxRetentionService {
  constructor(
    private readonly retention: ProcessedEventRetention,
    private readonly failed: FailedMessageStore,
    private readonly dedupeWindowMs: number,
  ) {}

  /**
   * Runs until nothing is left to remove. Several processes may do it at once.
   *
   * @param options.batchSize records removed by one statement; 1 to 100,000, default 1,000.
   * @param signal stops after the running batch.
   * @returns how many records were removed.
   */
  async prune(options: { readonly batchSize?: number } = {}, signal?: AbortSignal): Promise<number> {
    const batchSize = wholeNumber('batchSize', options.batchSize, 1000, 1, 100_000);
    let total = 0;
    while (!signal?.aborted) {
      const pruned = await this.retention.prune(this.dedupeWindowMs, batchSize);
      total += pruned;
      if (pruned === 0) break;
    }
    while (!signal?.aborted && (await this.failed.prune(this.dedupeWindowMs, batchSize)) > 0);
    return total;
  }
}
