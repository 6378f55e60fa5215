import { wholeNumber } from '../config/index.js';
import type { PrunedRows, RetentionStore } from '../store/index.js';

const TEN_YEARS_MS = 3650 * 86_400_000;

export interface RetentionOptions {
  /** Age, in ms by the database's clock, from which delivered events may go. Cover your longest look back and replay. */
  readonly olderThanMs: number;
  /** Rows removed by one statement; 1 to 100,000, default 1,000. */
  readonly batchSize?: number;
}

/**
 * Keeps the tables small: removes old events that were delivered everywhere, in small batches. An undelivered event or
 * a dead letter is never removed, however old. Several processes may run it at once.
 */
export class RetentionService {
  constructor(private readonly store: RetentionStore) {}

  /**
   * Runs until nothing is left to remove.
   *
   * @param signal stops after the running batch.
   */
  async prune(options: RetentionOptions, signal?: AbortSignal): Promise<PrunedRows> {
    const olderThanMs = wholeNumber('olderThanMs', options.olderThanMs, 0, 0, TEN_YEARS_MS);
    const batchSize = wholeNumber('batchSize', options.batchSize, 1000, 1, 100_000);
    let total: PrunedRows = { deliveries: 0, events: 0 };
    while (!signal?.aborted) {
      const { deliveries, events } = await this.store.prune(olderThanMs, batchSize);
      total = { deliveries: total.deliveries + deliveries, events: total.events + events };
      if (deliveries === 0 && events === 0) break;
    }
    return total;
  }
}
