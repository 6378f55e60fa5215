import { monotonicMs } from '../runtime/index.js';
import type { BacklogStore, DestinationBacklog } from '../store/index.js';

interface Reading {
  readonly startedAt: number;
  readonly answer: Promise<readonly DestinationBacklog[]>;
}

/**
 * Answers the questions of whoever is on call: how many wait, in which state, how old the oldest is, whose lease ended
 * without an outcome, how often things were tried, and how many were given up. See docs/operations/monitoring.md.
 */
export class BacklogService {
  private last: Reading | undefined;

  constructor(private readonly store: BacklogStore) {}

  /**
   * One entry for each destination that has something undelivered or dead; all figures of the same moment. Counts the queue,
   * which takes PostgreSQL a moment where a million events wait.
   *
   * @param options.maxAgeMs figures this old will do, so that many who look share one count; default 0: count now.
   */
  read(options: { readonly maxAgeMs?: number } = {}): Promise<readonly DestinationBacklog[]> {
    const { maxAgeMs = 0 } = options;
    const { last } = this;
    if (last !== undefined && monotonicMs() - last.startedAt < maxAgeMs) return last.answer;
    return this.readNow();
  }

  private readNow(): Promise<readonly DestinationBacklog[]> {
    const reading: Reading = { startedAt: monotonicMs(), answer: this.store.read() };
    this.last = reading;
    reading.answer.catch(() => {
      // Whoever asked is told; the next one asks anew.
      if (this.last === reading) this.last = undefined;
    });
    return reading.answer;
  }
}
