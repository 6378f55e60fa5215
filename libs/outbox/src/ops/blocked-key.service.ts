import { wholeNumber } from '../config/index.js';
import type { Signal } from '../runtime/index.js';
import type { BlockedKey, BlockedKeyFilter, BlockedKeyStore } from '../store/index.js';
import { requireCondition } from './require-condition.js';

const MAX_LISTED = 10_000;

/** Shows which aggregates wait behind what, and lets them go on. */
export class BlockedKeyService {
  constructor(
    private readonly store: BlockedKeyStore,
    /** Told the name of a destination that has work again. */
    private readonly emitted: Signal<string>,
  ) {}

  /**
   * Aggregates that are held back by a dead letter or by an event that waits for its next attempt, oldest first.
   *
   * @param options.limit 1 to 10,000, default 100.
   */
  list(filter: BlockedKeyFilter = {}, options: { readonly limit?: number } = {}): Promise<readonly BlockedKey[]> {
    return this.store.list(filter, wholeNumber('limit', options.limit, 100, 1, MAX_LISTED));
  }

  /**
   * Lets what waits behind a dead letter go on, in order. The dead letter stays one; redriven later, its event arrives
   * after those that passed it. To keep the order, redrive or discard it instead (DeadLetterService).
   *
   * @returns how many aggregates go on.
   * @throws ConfigurationError for an empty filter: that would be everything.
   */
  async release(filter: BlockedKeyFilter): Promise<number> {
    requireCondition('release', filter);
    const released = await this.store.release(filter);
    for (const destination of new Set(released)) this.emitted.announce(destination);
    return released.length;
  }
}
