import { wholeNumber } from '../config/index.js';
import type { ConsumerBacklog, InboxBacklogStore } from '../store/index.js';

const DAY_MS = 86_400_000;
const FIVE_MINUTES_MS = 300_000;

/** Answers whether consumers get on: how much they process, what fails, and what waits for a person. */
export class InboxBacklogService {
  constructor(private readonly store: InboxBacklogStore) {}

  /**
   * One entry for each consumer that has processed something lately, or has failed messages.
   *
   * @param options.windowMs how far back processed events are counted, in ms; 1 to a day, default 5 minutes.
   */
  async read(options: { readonly windowMs?: number } = {}): Promise<readonly ConsumerBacklog[]> {
    return this.store.read(wholeNumber('windowMs', options.windowMs, FIVE_MINUTES_MS, 1, DAY_MS));
  }
}
