import type { ResolvedDestination } from '../config/index.js';
import { monotonicMs, type Random } from '../runtime/index.js';

/**
 * Leaves a destination alone while it cannot be reached: after each failed try for twice as long, up to the cap, with
 * jitter. When the pause is over, a single event probes before batches go out again.
 */
export class DestinationPause {
  private failures = 0;
  private until = 0;

  constructor(
    private readonly destination: ResolvedDestination,
    private readonly random: Random,
  ) {}

  /** Milliseconds for which nothing should be claimed. */
  remainingMs(): number {
    return Math.max(0, this.until - monotonicMs());
  }

  /** True after a failure until an event gets through. */
  isProbing(): boolean {
    return this.failures > 0;
  }

  /** @returns for how long the destination is left alone now, in ms. */
  recordUnreachable(): number {
    const { pauseBaseMs, pauseCapMs } = this.destination;
    const longest = Math.min(pauseCapMs, pauseBaseMs * 2 ** Math.min(this.failures, 40));
    this.failures += 1;
    const pauseMs = longest * (0.5 + this.random() / 2);
    this.until = monotonicMs() + pauseMs;
    return pauseMs;
  }

  recordReached(): void {
    this.failures = 0;
    this.until = 0;
  }
}
