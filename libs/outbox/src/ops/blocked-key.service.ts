import { wholeNumber } from '../config/index.js';
import type { Signal } from '../runtime/index.js';
import type { BlockedKey, BlockedKeyFilter, BlockedKeyStore, ManualChange } from '../store/index.js';
import { checkChange, checkCondition } from './check-change.js';

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
   * @throws ConfigurationError for an empty filter, which would be everything, and for a change without a name or a reason.
   */
  async release(filter: BlockedKeyFilter, change: ManualChange): Promise<number> {
    checkCondition('release', filter);
    checkChange('release', change);
    const { count, destinations } = await this.store.release(filter, change);
    for (const destination of destinations) this.emitted.announce(destination);
    return count;
  }
}
