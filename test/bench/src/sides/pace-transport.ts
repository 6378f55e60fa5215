import { type OutgoingEvent, type PublishOutcome } from 'nestjs-transactional-outbox';
import { CountingTransport } from './counting-transport.js';

/** Remembers when each batch arrived, which tells the pace along a backlog. */
export class PaceTransport extends CountingTransport {
  private startedAt = 0;
  private arrivals: { readonly atMs: number; readonly count: number }[] = [];

  /** Starts anew; to be called right before the drain. */
  begin(): void {
    this.count = 0;
    this.arrivals = [];
    this.startedAt = performance.now();
  }

  override async publish(batch: readonly OutgoingEvent[]): Promise<readonly PublishOutcome[]> {
    const outcomes = await super.publish(batch);
    this.arrivals.push({ atMs: performance.now() - this.startedAt, count: this.count });
    return outcomes;
  }

  /** Events per second in each of `parts` equal parts of what arrived since `begin()`. */
  paceOf(parts: number): number[] {
    const borders = Array.from({ length: parts + 1 }, (_, part) => this.reachedAtMs((this.count * part) / parts));
    return borders.slice(1).map((end, part) => this.count / parts / ((end - (borders[part] ?? 0)) / 1000));
  }

  /** Between two arrivals, in proportion. */
  private reachedAtMs(count: number): number {
    const index = this.arrivals.findIndex((arrival) => arrival.count >= count);
    const after = this.arrivals[index];
    if (after === undefined) return 0;
    const before = this.arrivals[index - 1] ?? { atMs: 0, count: 0 };
    return before.atMs + ((after.atMs - before.atMs) * (count - before.count)) / (after.count - before.count);
  }
}
