import { pruneProcessedEventsOnSqliteSql, pruneProcessedEventsSql } from './sql/prune-processed-events.sql.js';
import type { SqlClient } from './sql-client.js';
import type { InboxNames } from './table-names.js';

/** Contract: removes at most `batchSize` records in one call, oldest first, and answers how many. */
export interface ProcessedEventRetention {
  prune(olderThanMs: number, batchSize: number): Promise<number>;
}

export function postgresProcessedEventRetention(client: SqlClient, names: InboxNames): ProcessedEventRetention {
  return {
    async prune(olderThanMs, batchSize) {
      return (await client.query(pruneProcessedEventsSql(names), [olderThanMs, batchSize])).rows.length;
    },
  };
}

export function sqliteProcessedEventRetention(client: SqlClient, names: InboxNames): ProcessedEventRetention {
  return {
    async prune(olderThanMs, batchSize) {
      const values = [`-${olderThanMs / 1000} seconds`, batchSize];
      return (await client.query(pruneProcessedEventsOnSqliteSql(names), values)).rows.length;
    },
  };
}
