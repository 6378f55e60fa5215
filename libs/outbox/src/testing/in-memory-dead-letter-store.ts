import type { ChangedDeliveries, DeadLetter, DeadLetterFilter, DeadLetterStore } from '../store/index.js';
import type { InMemoryDelivery, InMemoryQueue } from './in-memory-queue.js';

export class InMemoryDeadLetterStore implements DeadLetterStore {
  constructor(private readonly queue: InMemoryQueue) {}

  async list(filter: DeadLetterFilter, limit: number, after = '0'): Promise<readonly DeadLetter[]> {
    const later = this.selected(filter).filter(({ id }) => BigInt(id) > BigInt(after));
    return later.slice(0, limit).map(toDeadLetter);
  }

  async redrive(filter: DeadLetterFilter): Promise<ChangedDeliveries> {
    const letters = this.selected(filter);
    const availableAt = this.queue.clock();
    const redrives = this.queue.nextOperation();
    for (const letter of letters) {
      Object.assign(letter, { status: 'pending', attempts: 0, redrives, availableAt });
    }
    return changedIn(letters);
  }

  async discard(filter: DeadLetterFilter): Promise<ChangedDeliveries> {
    const letters = this.selected(filter);
    this.queue.nextOperation();
    for (const letter of letters) {
      this.queue.deliveries.delete(letter.id);
      this.queue.archive.push(letter);
    }
    return changedIn(letters);
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

function changedIn(letters: readonly InMemoryDelivery[]): ChangedDeliveries {
  return { count: letters.length, destinations: [...new Set(letters.map(({ destination }) => destination))] };
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
