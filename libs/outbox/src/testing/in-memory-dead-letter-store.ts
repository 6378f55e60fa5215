import type { DeadLetter, DeadLetterFilter, DeadLetterStore } from '../store/index.js';
import type { InMemoryDelivery, InMemoryQueue } from './in-memory-queue.js';

export class InMemoryDeadLetterStore implements DeadLetterStore {
  constructor(private readonly queue: InMemoryQueue) {}

  async list(filter: DeadLetterFilter, limit: number): Promise<readonly DeadLetter[]> {
    return this.selected(filter).slice(0, limit).map(toDeadLetter);
  }

  async redrive(filter: DeadLetterFilter): Promise<number> {
    const letters = this.selected(filter);
    const availableAt = this.queue.clock();
    for (const letter of letters) {
      Object.assign(letter, { status: 'pending', attempts: 0, redrives: letter.redrives + 1, availableAt });
    }
    return letters.length;
  }

  async discard(filter: DeadLetterFilter): Promise<number> {
    const letters = this.selected(filter);
    for (const { id } of letters) this.queue.deliveries.delete(id);
    return letters.length;
  }

  private selected({ destination, ids }: DeadLetterFilter): InMemoryDelivery[] {
    return [...this.queue.deliveries.values()].filter(
      (one) =>
        one.status === 'dead' &&
        (destination === undefined || one.destination === destination) &&
        (ids === undefined || ids.includes(one.id)),
    );
  }
}

function toDeadLetter(delivery: InMemoryDelivery): DeadLetter {
  const { envelope } = delivery;
  return {
    id: delivery.id,
    eventId: envelope.id,
    destination: delivery.destination,
    type: envelope.type,
    aggregateType: envelope.aggregateType,
    aggregateId: envelope.aggregateId,
    attempts: delivery.attempts,
    error: delivery.lastError,
    createdAt: new Date(delivery.createdAt),
    blocksKey: delivery.holdsKey,
  };
}
