import { endedError, type TransactionTicket } from '../transaction/index.js';
import { toEventRows } from './event-rows.js';
import type { EventStore, StorableEvent } from './event-store.js';
import { insertOrderedEventsSql, insertUnorderedEventsSql } from './sql/insert-events.sql.js';
import { type Statement, statementOf } from './statement.js';
import type { OutboxNames } from './table-names.js';

export class PostgresEventStore implements EventStore {
  private readonly unordered: Statement;
  private readonly ordered: Statement;

  /** @param options.preparesStatements whether connections that reach PostgreSQL directly keep the statements. */
  constructor(names: OutboxNames, { preparesStatements }: { readonly preparesStatements: boolean }) {
    this.unordered = statementOf('outbox_emit', insertUnorderedEventsSql(names), { preparesStatements });
    this.ordered = statementOf('outbox_emit', insertOrderedEventsSql(names), { preparesStatements });
  }

  async insert(ticket: TransactionTicket, events: readonly StorableEvent[]): Promise<void> {
    if (events.length === 0) return;
    const statement = events.some((event) => event.orderingKey !== undefined) ? this.ordered : this.unordered;
    const rowsJson = toEventRows(events);
    const { rows } = await ticket.query((transactionId) => ({ ...statement, values: [rowsJson, transactionId] }));
    if (rows[0]?.stored !== events.length) throw endedError();
  }
}
