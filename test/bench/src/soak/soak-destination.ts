import {
  type EventEnvelope,
  type OutgoingEvent,
  type PublishOutcome,
  type Transport,
} from 'nestjs-transactional-outbox';

export interface SoakDestinationOptions {
  /** True while the destination as a whole cannot be reached. */
  readonly isDown?: () => boolean;
  /** Every so manieth event is refused at its first attempt; default none. */
  readonly refuseEvery?: number;
  readonly onDelivered?: (event: EventEnvelope) => void;
}

/** A destination of the soak: has bad times when told to, and checks that the events of an aggregate come in order. */
export class SoakDestination implements Transport {
  readonly capabilities = { batch: true, keepsOrderPerKey: true, deduplicates: false };
  delivered = 0;
  /** Deliveries of ordered events that did not follow the one before. A repetition is none. */
  outOfOrder = 0;

  private seen = 0;
  private readonly sequences = new Map<string, bigint>();

  constructor(private readonly options: SoakDestinationOptions = {}) {}

  async publish(batch: readonly OutgoingEvent[]): Promise<readonly PublishOutcome[]> {
    if (this.options.isDown?.()) return batch.map(() => ({ kind: 'unreachable', error: 'an outage of the soak' }));
    const holding = new Set<string>();
    return batch.map(({ envelope, attempt }) => this.receive(envelope, attempt, holding));
  }

  private receive(envelope: EventEnvelope, attempt: number, holding: Set<string>): PublishOutcome {
    const { aggregateId, sequence } = envelope;
    if (sequence !== undefined && holding.has(aggregateId)) return { kind: 'held' };
    this.seen += 1;
    if (attempt === 1 && this.options.refuseEvery !== undefined && this.seen % this.options.refuseEvery === 0) {
      if (sequence !== undefined) holding.add(aggregateId);
      return { kind: 'retry', error: 'a refusal of the soak' };
    }
    if (sequence !== undefined) this.checkOrder(aggregateId, sequence);
    this.delivered += 1;
    this.options.onDelivered?.(envelope);
    return { kind: 'delivered' };
  }

  private checkOrder(aggregateId: string, sequence: bigint): void {
    const last = this.sequences.get(aggregateId) ?? 0n;
    if (sequence > last + 1n) this.outOfOrder += 1;
    if (sequence > last) this.sequences.set(aggregateId, sequence);
  }
}
