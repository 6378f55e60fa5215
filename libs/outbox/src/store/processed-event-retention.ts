import { DatabaseFailedMessageStore } from './database-failed-message-store.js';
import type { PruneRequest } from './retention-store.js';
import { pruneProcessedEventsOnSqliteSql, pruneProcessedEventsSql } from './sql/prune-processed-events.sql.js';
import type { SqlClient } from './sql-client.js';
import type { InboxNames } from './table-names.js';
import type { Turn, Turns } from './turns.js';

/** What one batch removed. */
export interface PrunedInboxBatch {
  readonly records: number;
  /** Counts of failures of messages that were not parked. */
  readonly failures: number;
}

/**
 * Contract: each call is a short transaction of its own, which removes at most `batchSize` rows of each table, oldest
 * first, and does nothing while another process is pruning the same tables.
 */
export interface ProcessedEventRetention {
  prune(request: PruneRequest): Promise<Turn<PrunedInboxBatch>>;
}

export function postgresProcessedEventRetention(turns: Turns, names: InboxNames): ProcessedEventRetention {
  return {
    prune({ olderThanMs, batchSize, lockTimeoutMs }) {
      return turns.take(lockTimeoutMs, async (client) => {
        const { rows } = await client.query(pruneProcessedEventsSql(names), [olderThanMs, batchSize]);
        const failed = DatabaseFailedMessageStore.onPostgres(client, names);
        return { records: rows.length, failures: await failed.prune(olderThanMs, batchSize) };
      });
    },
  };
}

/** SQLite lets one process write at a time, and its own busy timeout bounds the wait. */
export function sqliteProcessedEventRetention(client: SqlClient, names: InboxNames): ProcessedEventRetention {
  const failed = DatabaseFailedMessageStore.onSqlite(client, names);
  return {
    async prune({ olderThanMs, batchSize }) {
      const values = [`-${olderThanMs / 1000} seconds`, batchSize];
      const { rows } = await client.query(pruneProcessedEventsOnSqliteSql(names), values);
      return { isOurs: true, result: { records: rows.length, failures: await failed.prune(olderThanMs, batchSize) } };
    },
  };
}
