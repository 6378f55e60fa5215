import type { BacklogStore, DestinationBacklog } from '../store/index.js';

/**
 * Answers the questions of whoever is on call: how many wait, in which state, how old the oldest is, whose lease ended
 * without an outcome, how often things were tried, and how many were given up. See docs/operations/monitoring.md.
 */
export class BacklogService {
  constructor(private readonly store: BacklogStore) {}

  /** One entry for each destination that has something undelivered or dead; all figures of the same moment. */
  read(): Promise<readonly DestinationBacklog[]> {
    return this.store.read();
  }
}
