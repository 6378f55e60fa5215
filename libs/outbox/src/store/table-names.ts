import type { OutboxTableOptions } from '../config/index.js';

/** Quoted, schema-qualified names. Only these are ever put into SQL text; values are always bound. */
export interface OutboxNames {
  readonly schema: string;
  readonly event: string;
  readonly delivery: string;
  readonly lane: string;
  readonly aggregate: string;
  readonly destination: string;
  /** Finished deliveries with completion `archive`, and what was discarded by hand. */
  readonly archive: string;
  /** What people changed by hand, and why. */
  readonly operation: string;
  /** Sequence of the fencing tokens. */
  readonly token: string;
  /** View for people: a line for each event and destination. */
  readonly status: string;
  readonly version: string;
  /** Quoted name of an index of a table; indexes live in the schema of their table. */
  index(table: keyof OutboxTableOptions, suffix: string): string;
  /** Bare name of a table that is made for a part of the event log. */
  partition(suffix: string): string;
  /** Qualified name of a table in the schema. */
  table(name: string): string;
}

export interface InboxNames {
  readonly schema: string;
  readonly processed: string;
  /** Messages that failed, parked ones among them. */
  readonly failed: string;
  readonly version: string;
  index(suffix: string): string;
}

export function outboxNames(schema: string, tables: Required<OutboxTableOptions>): OutboxNames {
  const qualified = qualifier(schema);
  return {
    schema: quoteIdentifier(schema),
    event: qualified(tables.event),
    delivery: qualified(tables.delivery),
    lane: qualified(tables.lane),
    aggregate: qualified(tables.aggregate),
    destination: qualified(tables.destination),
    archive: qualified(`${tables.delivery}_archive`),
    operation: qualified(`${tables.delivery}_operation`),
    token: qualified(`${tables.delivery}_token`),
    status: qualified(`${tables.event}_status`),
    version: qualified(VERSION_TABLE),
    index: (table, suffix) => quoteIdentifier(`${tables[table]}_${suffix}`),
    partition: (suffix) => `${tables.event}_${suffix}`,
    table: qualified,
  };
}

export function inboxNames(schema: string, processed: string): InboxNames {
  const qualified = qualifier(schema);
  return {
    schema: quoteIdentifier(schema),
    processed: qualified(processed),
    failed: qualified(`${processed}_failed`),
    version: qualified(VERSION_TABLE),
    index: (suffix) => quoteIdentifier(`${processed}_${suffix}`),
  };
}

/** SQLite has no schemas: the tables are those of the file. */
export function sqliteInboxNames(processed: string): InboxNames {
  return {
    schema: quoteIdentifier('main'),
    processed: quoteIdentifier(processed),
    failed: quoteIdentifier(`${processed}_failed`),
    version: quoteIdentifier(VERSION_TABLE),
    index: (suffix) => quoteIdentifier(`${processed}_${suffix}`),
  };
}

const VERSION_TABLE = 'outbox_schema_version';

/** Double quotes make any text an identifier; a quote inside is doubled (PostgreSQL, "Lexical Structure"). */
export function quoteIdentifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

function qualifier(schema: string): (name: string) => string {
  return (name) => `${quoteIdentifier(schema)}.${quoteIdentifier(name)}`;
}
