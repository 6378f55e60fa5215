import { percentile } from '../measure/statistics.js';

/**
 * Time from COMMIT to the call of the transport, for each event. Both happen in this process, and the transport may be
 * called before the promise of the transaction has resolved; that counts as no time at all.
 */
export class CommitLatency {
  private readonly committedAt = new Map<string, number>();
  private readonly publishedAt = new Map<string, number>();
  private milliseconds: number[] = [];

  committed(eventId: string, at = performance.now()): void {
    const publishedAt = this.publishedAt.get(eventId);
    if (publishedAt === undefined) this.committedAt.set(eventId, at);
    else this.record(eventId, publishedAt - at);
  }

  /** Of an event that is published more than once, only the first time may be told. */
  published(eventId: string, at = performance.now()): void {
    const committedAt = this.committedAt.get(eventId);
    if (committedAt === undefined) this.publishedAt.set(eventId, at);
    else this.record(eventId, at - committedAt);
  }

  /** Median and 99th percentile in ms since the last call; not a number when nothing was published. */
  take(): { readonly p50: number; readonly p99: number } {
    const taken = this.milliseconds;
    this.milliseconds = [];
    if (taken.length === 0) return { p50: Number.NaN, p99: Number.NaN };
    return { p50: percentile(taken, 0.5), p99: percentile(taken, 0.99) };
  }

  private record(eventId: string, milliseconds: number): void {
    this.committedAt.delete(eventId);
    this.publishedAt.delete(eventId);
    this.milliseconds.push(Math.max(milliseconds, 0));
  }
}
