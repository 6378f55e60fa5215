import { wholeNumber } from '../config/index.js';
import { ConfigurationError } from '../errors/index.js';
import { type Signal, waitFor } from '../runtime/index.js';
import type { ManualChange, ReplayedDelivery, ReplayFilter, ReplayPreview, ReplayStore } from '../store/index.js';
import { checkChange, checkCondition, checkEventIds } from './check-change.js';

const DEFAULT_AT_MOST = 100_000;
const MAX_AT_MOST = 1_000_000;
const QUEUED_AT_ONCE = 500;

export interface ReplayOptions {
  /** How many a second are queued; 1 to 10,000, default as fast as it goes. */
  readonly perSecond?: number;
  /** Refuses a filter that selects more; 1 to 1,000,000, default 100,000. They are held in memory, some 200 bytes each. */
  readonly atMost?: number;
  /** Told after each step how many of how many are queued. */
  readonly onProgress?: (queued: number, total: number) => void;
  /** Stops after the step that runs; what is queued stays queued. */
  readonly signal?: AbortSignal;
}

/**
 * Sends events from the log again that were delivered: to a consumer that has lost or misread them. Each keeps its id, so a
 * consumer with an inbox has to forget it first, or it answers that it is a duplicate. Among themselves events of an aggregate
 * come in their order again; they come behind what is on its way already.
 */
export class ReplayService {
  constructor(
    private readonly store: ReplayStore,
    /** Told the name of a destination that has work again. */
    private readonly emitted: Signal<string>,
  ) {}

  /**
   * What a replay would send: the dry run.
   *
   * @throws ConfigurationError for an empty filter.
   */
  async preview(filter: ReplayFilter): Promise<readonly ReplayPreview[]> {
    checkCondition('preview', filter);
    checkEventIds(filter.eventIds);
    return this.store.preview(filter);
  }

  /**
   * If the process dies here, what was queued is sent, and the record of the operation says how much that was.
   *
   * @returns how many were queued. What is on its way, or dead, is not among them.
   * @throws ConfigurationError for an empty filter, for one that selects more than `atMost`, and for a change without a name
   *   or a reason; nothing is queued then.
   */
  async replay(filter: ReplayFilter, change: ManualChange, options: ReplayOptions = {}): Promise<number> {
    checkCondition('replay', filter);
    checkEventIds(filter.eventIds);
    checkChange('replay', change);
    const perSecond = wholeNumber('perSecond', options.perSecond, 0, 0, 10_000);
    const atMost = wholeNumber('atMost', options.atMost, DEFAULT_AT_MOST, 1, MAX_AT_MOST);
    const selected = await this.store.select(filter, atMost + 1);
    if (selected.length > atMost) {
      throw new ConfigurationError(
        `replay() got a filter that selects more than ${atMost} deliveries, and nothing was queued. Narrow it, or raise "atMost".`,
      );
    }
    if (selected.length === 0) return 0;
    return this.queueAll(selected, filter, change, { ...options, perSecond });
  }

  private async queueAll(
    selected: readonly ReplayedDelivery[],
    filter: ReplayFilter,
    change: ManualChange,
    { perSecond, onProgress, signal = new AbortController().signal }: ReplayOptions & { readonly perSecond: number },
  ): Promise<number> {
    const operation = await this.store.begin(filter, change);
    const size = perSecond === 0 ? QUEUED_AT_ONCE : Math.min(QUEUED_AT_ONCE, perSecond);
    let queued = 0;
    for (let from = 0; from < selected.length && !signal.aborted; from += size) {
      const step = selected.slice(from, from + size);
      queued += await this.store.queue(operation, change.by, step);
      for (const destination of new Set(step.map((one) => one.destination))) this.emitted.announce(destination);
      onProgress?.(queued, selected.length);
      if (perSecond > 0 && from + size < selected.length) await waitFor((step.length / perSecond) * 1000, signal);
    }
    return queued;
  }
}
