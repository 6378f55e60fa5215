import type {
  FailedMessageStore,
  MessageFailure,
  ParkedMessage,
  ParkedMessageFilter,
  RawMessage,
} from './failed-message-store.js';
import {
  countFailureSql,
  listParkedSql,
  parkMessageSql,
  pruneFailuresOnSqliteSql,
  pruneFailuresSql,
  removeParkedSql,
} from './sql/failed-messages.sql.js';
import type { SqlClient, SqlRow } from './sql-client.js';
import type { InboxNames } from './table-names.js';

/** What differs between the databases of an inbox. */
interface Dialect {
  readonly now: string;
  /** Parameters are written as `$1`, each once and in order. */
  readonly text: (sql: string) => string;
  /** Condition on the ids of a filter, which are bound as `value`. */
  readonly idsIn: (parameter: string) => string;
  readonly bindIds: (ids: readonly string[]) => unknown;
  readonly prune: (names: InboxNames) => string;
  readonly bindAge: (olderThanMs: number) => unknown;
}

const POSTGRES: Dialect = {
  now: 'clock_timestamp()',
  text: (sql) => sql,
  idsIn: (parameter) => `id = any (${parameter}::bigint[])`,
  bindIds: (ids) => ids,
  prune: pruneFailuresSql,
  bindAge: (olderThanMs) => olderThanMs,
};

const SQLITE: Dialect = {
  now: "strftime('%Y-%m-%dT%H:%M:%fZ', 'now')",
  text: (sql) => sql.replaceAll(/\$\d+/g, '?'),
  idsIn: (parameter) => `id in (select value from json_each(${parameter}))`,
  bindIds: (ids) => JSON.stringify(ids),
  prune: pruneFailuresOnSqliteSql,
  bindAge: (olderThanMs) => `-${olderThanMs / 1000} seconds`,
};

/** Failed messages beside the processed events, on PostgreSQL or SQLite. */
export class DatabaseFailedMessageStore implements FailedMessageStore {
  constructor(
    private readonly client: SqlClient,
    private readonly names: InboxNames,
    private readonly dialect: Dialect,
  ) {}

  static onPostgres(client: SqlClient, names: InboxNames): DatabaseFailedMessageStore {
    return new DatabaseFailedMessageStore(client, names, POSTGRES);
  }

  static onSqlite(client: SqlClient, names: InboxNames): DatabaseFailedMessageStore {
    return new DatabaseFailedMessageStore(client, names, SQLITE);
  }

  async count(failure: MessageFailure): Promise<number> {
    const rows = await this.query(countFailureSql(this.names), failureValues(failure));
    return Number(rows[0]?.attempts);
  }

  async park(failure: MessageFailure, message: RawMessage): Promise<void> {
    const { source, contentType, headers, body } = message;
    const values = [...failureValues(failure), source, contentType, JSON.stringify(headers), body];
    await this.query(parkMessageSql(this.names, this.dialect.now), values);
  }

  async list(filter: ParkedMessageFilter, limit: number): Promise<readonly ParkedMessage[]> {
    const { where, values } = this.selected(filter);
    const sql = listParkedSql(this.names, where, `$${values.length + 1}`);
    return (await this.query(sql, [...values, limit])).map(toParkedMessage);
  }

  async remove(filter: ParkedMessageFilter): Promise<number> {
    const { where, values } = this.selected(filter);
    return (await this.query(removeParkedSql(this.names, where), values)).length;
  }

  async prune(olderThanMs: number, batchSize: number): Promise<number> {
    const { prune, bindAge } = this.dialect;
    return (await this.query(prune(this.names), [bindAge(olderThanMs), batchSize])).length;
  }

  private async query(sql: string, values: readonly unknown[]): Promise<readonly SqlRow[]> {
    return (await this.client.query(this.dialect.text(sql), values)).rows;
  }

  private selected({ consumer, ids }: ParkedMessageFilter): { where: string; values: unknown[] } {
    const values: unknown[] = [];
    const conditions: string[] = [];
    if (consumer !== undefined) conditions.push(`consumer_name = $${values.push(consumer)}`);
    if (ids !== undefined) conditions.push(this.dialect.idsIn(`$${values.push(this.dialect.bindIds(ids))}`));
    return { where: conditions.length === 0 ? 'true' : conditions.join(' and '), values };
  }
}

function failureValues({ consumer, messageId, eventType, error }: MessageFailure): unknown[] {
  return [consumer, messageId, eventType ?? null, error];
}

function toParkedMessage(row: SqlRow): ParkedMessage {
  const headers: unknown = typeof row.headers === 'string' ? JSON.parse(row.headers) : row.headers;
  return {
    id: String(row.id),
    consumer: String(row.consumer_name),
    messageId: String(row.message_id),
    eventType: row.event_type == null ? undefined : String(row.event_type),
    attempts: Number(row.attempts),
    error: String(row.last_error),
    parkedAt: new Date(row.parked_at as string | Date),
    source: String(row.source),
    contentType: String(row.content_type ?? ''),
    headers: headers as Record<string, string>, // as park() wrote them
    body: Buffer.from(row.body as Uint8Array),
  };
}
