import type { DestinationState, DestinationStore, ProgressStore } from './destination-store.js';
import { type ManualChange, operationValues } from './manual-change.js';
import {
  listDestinationsSql,
  noteProgressSql,
  pauseDestinationSql,
  resumeDestinationSql,
} from './sql/destinations.sql.js';
import type { SqlClient } from './sql-client.js';
import type { OutboxNames } from './table-names.js';

interface DestinationRow {
  readonly destination: string;
  readonly failures: number;
  readonly last_error: string | null;
  readonly resume_at: Date | null;
  readonly delivered: number;
  readonly progressed_at: Date | null;
  readonly paused_at: Date | null;
  readonly paused_by: string | null;
  readonly pause_reason: string | null;
}

export class PostgresDestinationStore implements DestinationStore, ProgressStore {
  constructor(
    private readonly client: SqlClient,
    private readonly names: OutboxNames,
  ) {}

  async list(): Promise<readonly DestinationState[]> {
    const { rows } = await this.client.query(listDestinationsSql(this.names), []);
    // The columns are those of the statement; a test prepares it against the migrated schema.
    return (rows as unknown as readonly DestinationRow[]).map(toState);
  }

  pause(destination: string, change: ManualChange): Promise<boolean> {
    return this.change(pauseDestinationSql(this.names), destination, change);
  }

  resume(destination: string, change: ManualChange): Promise<boolean> {
    return this.change(resumeDestinationSql(this.names), destination, change);
  }

  async note(destination: string, delivered: number): Promise<void> {
    await this.client.query(noteProgressSql(this.names), [destination, delivered]);
  }

  private async change(text: string, destination: string, change: ManualChange): Promise<boolean> {
    const values = [destination, ...operationValues(change, { destination })];
    return (await this.client.query(text, values)).rows.length > 0;
  }
}

function toState(row: DestinationRow): DestinationState {
  return {
    destination: row.destination,
    failures: row.failures,
    error: row.last_error ?? undefined,
    resumeAt: row.resume_at ?? undefined,
    delivered: row.delivered,
    progressedAt: row.progressed_at ?? undefined,
    pause:
      row.paused_at === null
        ? undefined
        : { at: row.paused_at, by: row.paused_by ?? '', reason: row.pause_reason ?? '' },
  };
}
