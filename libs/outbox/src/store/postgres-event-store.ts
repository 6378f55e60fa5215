import { endedError, type TransactionTicket } from '../transaction/index.js';
import type { EventStore, StorableEvent } from './event-store.js';
import { insertOrderedEventsSql, insertUnorderedEventsSql } from './sql/insert-events.sql.js';
import type { OutboxNames } from './table-names.js';

export class PostgresEventStore implements EventStore {
  private readonly unordered: string;
  private readonly ordered: string;

  constructor(names: OutboxNames) {
    this.unordered = insertUnorderedEventsSql(names);
    this.ordered = insertOrderedEventsSql(names);
  }

  async insert(ticket: TransactionTicket, events: readonly StorableEvent[]): Promise<void> {
    if (events.length === 0) return;
    const text = events.some((event) => event.orderingKey !== undefined) ? this.ordered : this.unordered;
    const columns = [
      events.map((event) => event.id),
      events.map((event) => event.aggregateType),
      events.map((event) => event.aggregateId),
      events.map((event) => event.type),
      events.map((event) => event.payload),
      events.map((event) => event.headers),
      events.map((event) => event.version),
      events.map((event) => event.orderingKey ?? null),
      events.map((event) => event.payloadBytes),
      events.map((event) => JSON.stringify(event.destinations)),
    ];
    const { rows } = await ticket.query((transactionId) => ({ text, values: [...columns, transactionId] }));
    if (rows[0]?.stored !== events.length) throw endedError();
  }
}
