import type { OutgoingEvent, PublishOutcome, Transport } from 'nestjs-transactional-outbox';
import type { BenchStepped } from './bench-events.js';

/**
 * Takes everything at once and checks that the numbers of each aggregate only grow. One aggregate can be refused: its
 * events are answered with `retry`, and those behind them in the same call are held, as the contract asks.
 */
export class OrderCheckingTransport implements Transport {
  readonly capabilities = { batch: true, keepsOrderPerKey: true, deduplicates: false };
  /** Delivered since the last `reset`. */
  count = 0;
  /** Events that came after a later one of their aggregate, or although the refused one is still ahead of them. */
  violations = 0;
  private readonly lastNumbers = new Map<string, number>();
  private refused: { readonly aggregateId: string; firstNumber: number | undefined } | undefined;

  /** Forgets everything; from now on the aggregate `refusing` is refused, if one is given. */
  reset(refusing: string | undefined): void {
    this.count = 0;
    this.violations = 0;
    this.lastNumbers.clear();
    this.refused = refusing === undefined ? undefined : { aggregateId: refusing, firstNumber: undefined };
  }

  async publish(batch: readonly OutgoingEvent[]): Promise<readonly PublishOutcome[]> {
    let isRefusing = false;
    return batch.map(({ envelope: { aggregateId, payload } }) => {
      // Every event of a backlog is written by fillBacklog, which gives both types this shape.
      const { number } = payload as BenchStepped;
      if (aggregateId !== this.refused?.aggregateId) return this.accept(aggregateId, number);
      if (isRefusing) return { kind: 'held' };
      isRefusing = true;
      return this.refuse(this.refused, number);
    });
  }

  private accept(aggregateId: string, number: number): PublishOutcome {
    const last = this.lastNumbers.get(aggregateId);
    if (last !== undefined && number <= last) this.violations += 1;
    this.lastNumbers.set(aggregateId, number);
    this.count += 1;
    return { kind: 'delivered' };
  }

  private refuse(refused: { firstNumber: number | undefined }, number: number): PublishOutcome {
    refused.firstNumber ??= number;
    if (number !== refused.firstNumber) this.violations += 1;
    return { kind: 'retry', error: 'refused by the measurement' };
  }
}
