import { readInboxBacklogOnSqliteSql, readInboxBacklogSql } from './sql/read-inbox-backlog.sql.js';
import type { SqlClient } from './sql-client.js';
import type { InboxNames } from './table-names.js';

/** What one consumer does and does not get done. */
export interface ConsumerBacklog {
  readonly consumer: string;
  /** Events processed within the window that was asked for. */
  readonly processed: number;
  /** Messages that have failed and are delivered again. */
  readonly failing: number;
  /** Messages that wait for a person. */
  readonly parked: number;
}

/** Contract: answers from one statement, so that the figures fit together. */
export interface InboxBacklogStore {
  read(windowMs: number): Promise<readonly ConsumerBacklog[]>;
}

export function postgresInboxBacklog(client: SqlClient, names: InboxNames): InboxBacklogStore {
  return { read: (windowMs) => readFigures(client, readInboxBacklogSql(names), windowMs) };
}

export function sqliteInboxBacklog(client: SqlClient, names: InboxNames): InboxBacklogStore {
  return {
    read: (windowMs) => readFigures(client, readInboxBacklogOnSqliteSql(names), `-${windowMs / 1000} seconds`),
  };
}

async function readFigures(client: SqlClient, sql: string, window: unknown): Promise<readonly ConsumerBacklog[]> {
  const { rows } = await client.query(sql, [window]);
  return rows.map((row) => ({
    consumer: String(row.consumer_name),
    processed: Number(row.processed),
    failing: Number(row.failing),
    parked: Number(row.parked),
  }));
}
