import { createHash } from 'node:crypto';
import { endedError, type TransactionTicket } from '../transaction/index.js';
import { toEventRows } from './event-rows.js';
import type { EventStore, StorableEvent } from './event-store.js';
import { insertOrderedEventsSql, insertUnorderedEventsSql } from './sql/insert-events.sql.js';
import type { OutboxNames } from './table-names.js';

interface Statement {
  readonly text: string;
  /** Under which it stays prepared; undefined where it must not. */
  readonly name: string | undefined;
}

export class PostgresEventStore implements EventStore {
  private readonly unordered: Statement;
  private readonly ordered: Statement;

  /** @param options.preparesStatements whether connections that reach PostgreSQL directly keep the statements. */
  constructor(names: OutboxNames, { preparesStatements }: { readonly preparesStatements: boolean }) {
    const statement = (text: string): Statement => ({ text, name: preparesStatements ? nameOf(text) : undefined });
    this.unordered = statement(insertUnorderedEventsSql(names));
    this.ordered = statement(insertOrderedEventsSql(names));
  }

  async insert(ticket: TransactionTicket, events: readonly StorableEvent[]): Promise<void> {
    if (events.length === 0) return;
    const statement = events.some((event) => event.orderingKey !== undefined) ? this.ordered : this.unordered;
    const rowsJson = toEventRows(events);
    const { rows } = await ticket.query((transactionId) => ({ ...statement, values: [rowsJson, transactionId] }));
    if (rows[0]?.stored !== events.length) throw endedError();
  }
}

/** Follows from the text, because several outboxes may share a connection, and a name means one text. */
function nameOf(text: string): string {
  return `outbox_emit_${createHash('sha256').update(text).digest('hex').slice(0, 16)}`;
}
