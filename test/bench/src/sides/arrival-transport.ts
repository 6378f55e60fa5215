import { type OutgoingEvent, type PublishOutcome, type Transport } from 'nestjs-transactional-outbox';
import { type Moments, monotonicNowMs } from '../measure/latencies.js';

/** Delivers everything at once and notes when it was asked to. */
export class ArrivalTransport implements Transport {
  readonly capabilities = { batch: true, keepsOrderPerKey: true, deduplicates: false };
  private readonly moments: [string, number][] = [];

  async publish(batch: readonly OutgoingEvent[]): Promise<readonly PublishOutcome[]> {
    const atMs = monotonicNowMs();
    for (const { envelope } of batch) this.moments.push([envelope.id, atMs]);
    return batch.map(() => ({ kind: 'delivered' }));
  }

  /** What has arrived since it was asked last. */
  collect(): Moments {
    return this.moments.splice(0);
  }
}
