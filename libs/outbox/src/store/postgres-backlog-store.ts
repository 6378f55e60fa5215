import type { BacklogStore, DestinationBacklog } from './backlog-store.js';
import { readBacklogSql } from './sql/read-backlog.sql.js';
import type { SqlClient } from './sql-client.js';
import type { OutboxNames } from './table-names.js';

interface BacklogRow {
  readonly destination: string;
  readonly pending: number;
  readonly processing: number;
  readonly expired_leases: number;
  readonly dead: number;
  readonly oldest_ms: number | null;
  readonly attempts: string;
}

export class PostgresBacklogStore implements BacklogStore {
  private readonly sql: string;

  constructor(
    private readonly client: SqlClient,
    names: OutboxNames,
  ) {
    this.sql = readBacklogSql(names);
  }

  async read(): Promise<readonly DestinationBacklog[]> {
    // The columns are those of the statement; a test prepares it against the migrated schema.
    const rows = (await this.client.query(this.sql, [])).rows as unknown as readonly BacklogRow[];
    return rows.map((row) => ({
      destination: row.destination,
      pending: row.pending,
      processing: row.processing,
      expiredLeases: row.expired_leases,
      dead: row.dead,
      oldestUndeliveredMs: row.oldest_ms ?? undefined,
      attempts: new Map(
        Object.entries(JSON.parse(row.attempts) as Record<string, number>).map(([tries, total]) => [
          Number(tries),
          total,
        ]),
      ),
    }));
  }
}
