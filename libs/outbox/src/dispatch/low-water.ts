import { monotonicMs } from '../runtime/index.js';

/** The whole index is looked at this often at least: for late committers, ended leases and retries that became due. */
const SWEEP_INTERVAL_MS = 1000;

/** Where one claim starts to look. */
export interface Reach {
  /** µs since 1970; undefined to look at everything. */
  readonly fromUs: number | undefined;
  readonly sweep: number;
}

/**
 * Remembers how far the claims of this process have come, because the index of the queue keeps what was delivered until
 * it is vacuumed, and a long transaction anywhere in the database can put that off for hours. Only a hint: a claim that
 * was not full is followed by one that looks at everything, and so is every second.
 */
export class LowWater {
  private markUs: number | undefined;
  private sweep = 0;
  private sweptAt = Number.NEGATIVE_INFINITY;

  /** For the next claim. Several may be under way. */
  next(): Reach {
    const isDue = monotonicMs() - this.sweptAt >= SWEEP_INTERVAL_MS;
    if (this.markUs !== undefined && !isDue) return { fromUs: this.markUs, sweep: this.sweep };
    this.sweptAt = monotonicMs();
    this.sweep += 1;
    return { fromUs: undefined, sweep: this.sweep };
  }

  /**
   * @param lastUs of a claim that took as much as it might, so that what is left lies behind; undefined for any other.
   */
  note({ fromUs, sweep }: Reach, lastUs: number | undefined): void {
    // What a newer look at everything finds counts more than how far an older one had come.
    if (sweep !== this.sweep) return;
    if (lastUs === undefined) this.markUs = undefined;
    else this.markUs = fromUs === undefined ? lastUs : Math.max(this.markUs ?? lastUs, lastUs);
  }
}
