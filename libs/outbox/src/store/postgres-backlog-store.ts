import type { BacklogStore, DestinationBacklog } from './backlog-store.js';
import { readBacklogSql } from './sql/read-backlog.sql.js';
import { readVitalSignsSql } from './sql/read-vital-signs.sql.js';
import type { SqlClient } from './sql-client.js';
import type { OutboxNames } from './table-names.js';
import type { VitalSigns, VitalSignsStore } from './vital-signs-store.js';

interface BacklogRow {
  readonly destination: string;
  readonly pending: number;
  readonly processing: number;
  readonly expired_leases: number;
  readonly dead: number;
  readonly oldest_ms: number | null;
  readonly attempts: string;
}

interface VitalSignsRow {
  readonly destination: string;
  readonly failures: number;
  readonly last_error: string | null;
  readonly is_paused: boolean;
  readonly progress_ms: number | null;
  readonly oldest_ms: number | null;
  readonly due_ms: number | null;
  readonly dead: number;
}

export class PostgresBacklogStore implements BacklogStore, VitalSignsStore {
  constructor(
    private readonly client: SqlClient,
    private readonly names: OutboxNames,
  ) {}

  async read(): Promise<readonly DestinationBacklog[]> {
    // The columns are those of the statement; a test prepares it against the migrated schema.
    const rows = (await this.client.query(readBacklogSql(this.names), [])).rows as unknown as readonly BacklogRow[];
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

  async readVitalSigns(destinations: readonly string[]): Promise<readonly VitalSigns[]> {
    const { rows } = await this.client.query(readVitalSignsSql(this.names), [destinations]);
    // As above.
    return (rows as unknown as readonly VitalSignsRow[]).map((row) => ({
      destination: row.destination,
      failures: row.failures,
      error: row.last_error ?? undefined,
      isPaused: row.is_paused,
      progressMs: row.progress_ms ?? undefined,
      oldestMs: row.oldest_ms ?? undefined,
      dueMs: row.due_ms ?? undefined,
      dead: row.dead,
    }));
  }
}
