import { wholeNumber } from '../config/index.js';
import type { Signal } from '../runtime/index.js';
import type { DeadLetter, DeadLetterFilter, DeadLetterStore } from '../store/index.js';
import { requireCondition } from './require-condition.js';

const MAX_LISTED = 10_000;

/** Shows what was given up, and lets a person decide about it. */
export class DeadLetterService {
  constructor(
    private readonly store: DeadLetterStore,
    /** Told the name of a destination that has work again. */
    private readonly emitted: Signal<string>,
  ) {}

  /**
   * Oldest first.
   *
   * @param options.limit 1 to 10,000, default 100.
   */
  list(filter: DeadLetterFilter = {}, options: { readonly limit?: number } = {}): Promise<readonly DeadLetter[]> {
    return this.store.list(filter, wholeNumber('limit', options.limit, 100, 1, MAX_LISTED));
  }

  /**
   * Tries again what the filter selects, from the first attempt on, with the same event ids. A dead letter that blocks
   * its aggregate goes first, then its followers in order.
   *
   * @returns how many.
   * @throws ConfigurationError for an empty filter: that would be everything.
   */
  async redrive(filter: DeadLetterFilter): Promise<number> {
    requireCondition('redrive', filter);
    const letters = await this.store.list(filter, MAX_LISTED);
    const changed = await this.store.redrive(filter);
    for (const destination of new Set(letters.map((letter) => letter.destination))) this.emitted.announce(destination);
    return changed;
  }

  /**
   * Gives up for good what the filter selects. The events stay in the log; an aggregate that was blocked goes on.
   *
   * @returns how many.
   * @throws ConfigurationError for an empty filter: that would be everything.
   */
  discard(filter: DeadLetterFilter): Promise<number> {
    requireCondition('discard', filter);
    return this.store.discard(filter);
  }
}
