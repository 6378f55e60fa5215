import { wholeNumber } from '../config/index.js';
import type { PrunedRows, PruneRequest, RetentionStore, Turn } from '../store/index.js';
import type { LockOptions, MaintainedPartitions, MaintainOptions, PartitionService } from './partition.service.js';
import { ageMs, lockTimeoutMs } from './upkeep-bounds.js';

interface BatchOptions extends LockOptions {
  /** Rows removed by one transaction; 1 to 100,000, default 1,000. */
  readonly batchSize?: number;
}

export interface RetentionOptions extends BatchOptions {
  /** Age, in ms by the database's clock, from which delivered events may go. Cover your longest look back and replay. */
  readonly olderThanMs: number;
}

export interface RetentionPolicy extends BatchOptions, MaintainOptions {
  /** Age, in ms by the database's clock, from which delivered events may go. Cover your longest look back and replay. */
  readonly deliveredForMs: number;
}

export interface RetentionReport extends PrunedRows {
  readonly partitions: MaintainedPartitions;
}

/**
 * Keeps the tables small: removes old events that were delivered everywhere. An undelivered event or a dead letter is
 * never removed, however old. Several processes may run it at once: one at a time works, the others do nothing.
 */
export class RetentionService {
  constructor(
    private readonly store: RetentionStore,
    private readonly partitions: PartitionService,
  ) {}

  /**
   * Removes row by row, in small batches, until nothing is left to remove, whether the log is partitioned or not.
   *
   * @param signal stops after the running batch.
   * @throws what the database throws, also when a lock is not to be had in time: the batches before stay done.
   */
  async prune(options: RetentionOptions, signal?: AbortSignal): Promise<PrunedRows> {
    const rows = new RemovedRows(requestOf(options.olderThanMs, options), signal);
    await rows.removeDeliveries(this.store);
    await rows.removeEvents(this.store, { includeDays: true });
    return rows;
  }

  /**
   * What the automatic run does, once: makes the partitions of the days to come and drops old ones where the log is
   * partitioned; row by row goes what is in no partition of a day.
   *
   * @param signal stops after the running batch.
   */
  async enforce(policy: RetentionPolicy, signal?: AbortSignal): Promise<RetentionReport> {
    const rows = new RemovedRows(requestOf(policy.deliveredForMs, policy), signal);
    // What is kept of finished deliveries would keep the partition of their events.
    await rows.removeDeliveries(this.store);
    const partitions = await this.partitions.maintain(policy, signal);
    await rows.removeEvents(this.store, { includeDays: false });
    return {
      deliveries: rows.deliveries,
      events: rows.events,
      yielded: rows.yielded || partitions.yielded,
      partitions,
    };
  }
}

function requestOf(age: number, { batchSize, lockTimeoutMs: given }: BatchOptions): PruneRequest {
  return {
    olderThanMs: ageMs('the age of what may go', age),
    batchSize: wholeNumber('batchSize', batchSize, 1000, 1, 100_000),
    lockTimeoutMs: lockTimeoutMs(given),
  };
}

class RemovedRows implements PrunedRows {
  deliveries = 0;
  events = 0;
  yielded = false;
  readonly #request: PruneRequest;
  readonly #signal: AbortSignal | undefined;

  constructor(request: PruneRequest, signal: AbortSignal | undefined) {
    this.#request = request;
    this.#signal = signal;
  }

  async removeDeliveries(store: RetentionStore): Promise<void> {
    while (this.#mayGoOn()) {
      const pruned = this.#ours(await store.pruneDeliveries(this.#request)) ?? 0;
      if (pruned === 0) return;
      this.deliveries += pruned;
    }
  }

  async removeEvents(store: RetentionStore, scope: { readonly includeDays: boolean }): Promise<void> {
    for (const table of await store.eventTables(scope)) {
      // What a pass meets too early, or not in the order of its places, is left for the next one.
      while ((await this.#pass(store, table)) > 0);
    }
  }

  async #pass(store: RetentionStore, table: string): Promise<number> {
    let removed = 0;
    let place: string | undefined;
    while (this.#mayGoOn()) {
      const batch = this.#ours(await store.pruneEvents(table, place, this.#request));
      removed += batch?.pruned ?? 0;
      this.events += batch?.pruned ?? 0;
      place = batch?.next;
      if (place === undefined) break;
    }
    return removed;
  }

  #mayGoOn(): boolean {
    return !this.yielded && this.#signal?.aborted !== true;
  }

  #ours<T>(turn: Turn<T>): T | undefined {
    if (turn.isOurs) return turn.result;
    this.yielded = true;
    return undefined;
  }
}
