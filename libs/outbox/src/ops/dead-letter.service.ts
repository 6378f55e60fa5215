import { wholeNumber } from '../config/index.js';
import type { Signal } from '../runtime/index.js';
import type {
  ChangedDeliveries,
  DeadLetter,
  DeadLetterDetails,
  DeadLetterFilter,
  DeadLetterReader,
  DeadLetterStore,
  ManualChange,
} from '../store/index.js';
import { checkChange, checkCondition, checkDeliveryIds } from './check-change.js';

const MAX_LISTED = 10_000;
/** PostgreSQL's largest integer: no limit. */
const NO_LIMIT = 2_147_483_647;

export interface RedriveOptions {
  /** How many a second; 1 to 10,000, default all at once. */
  readonly perSecond?: number;
  /** The oldest ones, at most so many; default all. */
  readonly limit?: number;
}

/** Shows what was given up, and lets a person decide about it. Every decision is recorded with who and why. */
export class DeadLetterService {
  constructor(
    private readonly store: DeadLetterStore & DeadLetterReader,
    /** Told the name of a destination that has work again. */
    private readonly emitted: Signal<string>,
  ) {}

  /**
   * Oldest first.
   *
   * @param options.limit 1 to 10,000, default 100.
   * @param options.after id of the last one of the page before; the first page without it.
   */
  async list(
    filter: DeadLetterFilter = {},
    options: { readonly limit?: number; readonly after?: string } = {},
  ): Promise<readonly DeadLetter[]> {
    checkDeliveryIds(filter.ids);
    if (options.after !== undefined) checkDeliveryIds([options.after]);
    return this.store.list(filter, wholeNumber('limit', options.limit, 100, 1, MAX_LISTED), options.after);
  }

  /** How many dead letters a filter selects. */
  async count(filter: DeadLetterFilter = {}): Promise<number> {
    checkDeliveryIds(filter.ids);
    return this.store.count(filter);
  }

  /** One dead letter with its event and its attempts; undefined when there is none of this id, or none any more. */
  async show(id: string): Promise<DeadLetterDetails | undefined> {
    checkDeliveryIds([id]);
    return this.store.show(id);
  }

  /**
   * Tries again what the filter selects, from the first attempt on, with the same event ids. A dead letter that blocks
   * its aggregate goes first, then its followers in order.
   *
   * @returns how many.
   * @throws ConfigurationError for an empty filter, which would be everything, and for a change without a name or a reason.
   */
  async redrive(filter: DeadLetterFilter, change: ManualChange, options: RedriveOptions = {}): Promise<number> {
    this.check('redrive', filter, change);
    const perSecond = wholeNumber('perSecond', options.perSecond, 0, 0, 10_000);
    const limit = wholeNumber('limit', options.limit, NO_LIMIT, 1, NO_LIMIT);
    const spacingMs = perSecond === 0 ? 0 : 1000 / perSecond;
    return this.announced(await this.store.redrive(filter, change, { limit, spacingMs }));
  }

  /**
   * Gives up for good what the filter selects. The events stay in the log; an aggregate that was blocked goes on.
   *
   * @param options.limit the oldest ones, at most so many; default all.
   * @returns how many.
   * @throws ConfigurationError for an empty filter, which would be everything, and for a change without a name or a reason.
   */
  async discard(
    filter: DeadLetterFilter,
    change: ManualChange,
    options: { readonly limit?: number } = {},
  ): Promise<number> {
    this.check('discard', filter, change);
    const limit = wholeNumber('limit', options.limit, NO_LIMIT, 1, NO_LIMIT);
    return this.announced(await this.store.discard(filter, change, limit));
  }

  private check(action: string, filter: DeadLetterFilter, change: ManualChange): void {
    checkCondition(action, filter);
    checkDeliveryIds(filter.ids);
    checkChange(action, change);
  }

  private announced({ count, destinations }: ChangedDeliveries): number {
    for (const destination of destinations) this.emitted.announce(destination);
    return count;
  }
}
