import { type OutgoingEvent, type PublishOutcome, type Transport } from 'nestjs-transactional-outbox';

/** Delivers everything at once and remembers nothing but how much: the no-op handler of the comparisons. */
export class CountingTransport implements Transport {
  readonly capabilities = { batch: true, keepsOrderPerKey: true, deduplicates: false };
  count = 0;

  async publish(batch: readonly OutgoingEvent[]): Promise<readonly PublishOutcome[]> {
    this.count += batch.length;
    return batch.map(() => ({ kind: 'delivered' }));
  }
}
