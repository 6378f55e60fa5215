import type {
  FailedMessageStore,
  MessageFailure,
  ParkedMessage,
  ParkedMessageFilter,
  RawMessage,
} from './failed-message-store.js';
import {
  countFailureSql,
  listParkedOnSqliteSql,
  listParkedSql,
  parkMessageOnSqliteSql,
  parkMessageSql,
  pruneFailuresOnSqliteSql,
  pruneFailuresSql,
  removeParkedOnSqliteSql,
  removeParkedSql,
} from './sql/failed-messages.sql.js';
import type { SqlClient, SqlRow } from './sql-client.js';
import type { InboxNames } from './table-names.js';

/** What differs between the databases of an inbox. */
interface Dialect {
  readonly count: (names: InboxNames) => string;
  readonly park: (names: InboxNames) => string;
  readonly list: (names: InboxNames) => string;
  readonly remove: (names: InboxNames) => string;
  readonly prune: (names: InboxNames) => string;
  readonly bindIds: (ids: readonly string[]) => unknown;
  readonly bindAge: (olderThanMs: number) => unknown;
}

const POSTGRES: Dialect = {
  count: countFailureSql,
  park: parkMessageSql,
  list: listParkedSql,
  remove: removeParkedSql,
  prune: pruneFailuresSql,
  bindIds: (ids) => ids,
  bindAge: (olderThanMs) => olderThanMs,
};

const SQLITE: Dialect = {
  count: (names) => withQuestionMarks(countFailureSql(names)),
  park: (names) => withQuestionMarks(parkMessageOnSqliteSql(names)),
  list: listParkedOnSqliteSql,
  remove: removeParkedOnSqliteSql,
  prune: pruneFailuresOnSqliteSql,
  bindIds: (ids) => JSON.stringify(ids),
  bindAge: (olderThanMs) => `-${olderThanMs / 1000} seconds`,
};

/** For statements that name each parameter once and in order. */
function withQuestionMarks(sql: string): string {
  return sql.replaceAll(/\$\d+/g, '?');
}

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
    const rows = await this.query(this.dialect.count(this.names), failureValues(failure));
    return Number(rows[0]?.attempts);
  }

  async park(failure: MessageFailure, { source, contentType, headers, body }: RawMessage): Promise<void> {
    const values = [...failureValues(failure), source, contentType, JSON.stringify(headers), body];
    await this.query(this.dialect.park(this.names), values);
  }

  async list(filter: ParkedMessageFilter, limit: number): Promise<readonly ParkedMessage[]> {
    const rows = await this.query(this.dialect.list(this.names), [...this.filterValues(filter), limit]);
    return rows.map(toParkedMessage);
  }

  async remove(filter: ParkedMessageFilter): Promise<number> {
    return (await this.query(this.dialect.remove(this.names), this.filterValues(filter))).length;
  }

  async prune(olderThanMs: number, batchSize: number): Promise<number> {
    const { prune, bindAge } = this.dialect;
    return (await this.query(prune(this.names), [bindAge(olderThanMs), batchSize])).length;
  }

  private async query(sql: string, values: readonly unknown[]): Promise<readonly SqlRow[]> {
    return (await this.client.query(sql, values)).rows;
  }

  private filterValues({ consumer, ids }: ParkedMessageFilter): unknown[] {
    return [consumer ?? null, ids === undefined ? null : this.dialect.bindIds(ids)];
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
