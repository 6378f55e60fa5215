import type { DeadLetter, DeadLetterFilter, DeadLetterStore } from './dead-letter-store.js';
import { discardDeadLettersSql, listDeadLettersSql, redriveDeadLettersSql } from './sql/dead-letters.sql.js';
import type { SqlClient } from './sql-client.js';
import type { OutboxNames } from './table-names.js';

interface DeadLetterRow {
  readonly id: string;
  readonly event_id: string;
  readonly destination: string;
  readonly attempts: number;
  readonly last_error: string | null;
  readonly created_at: Date;
  readonly holds_key: boolean;
  readonly type: string | null;
  readonly aggregatetype: string | null;
  readonly aggregateid: string | null;
}

export class PostgresDeadLetterStore implements DeadLetterStore {
  constructor(
    private readonly client: SqlClient,
    private readonly names: OutboxNames,
  ) {}

  async list(filter: DeadLetterFilter, limit: number): Promise<readonly DeadLetter[]> {
    const { rows } = await this.client.query(listDeadLettersSql(this.names), [...valuesOf(filter), limit]);
    // The columns are those of the statement; a test prepares it against the migrated schema.
    return (rows as unknown as readonly DeadLetterRow[]).map(toDeadLetter);
  }

  redrive(filter: DeadLetterFilter): Promise<number> {
    return this.change(redriveDeadLettersSql(this.names), filter);
  }

  discard(filter: DeadLetterFilter): Promise<number> {
    return this.change(discardDeadLettersSql(this.names), filter);
  }

  private async change(text: string, filter: DeadLetterFilter): Promise<number> {
    const { rows } = await this.client.query(text, valuesOf(filter));
    return Number(rows[0]?.changed);
  }
}

function valuesOf(filter: DeadLetterFilter): unknown[] {
  return [filter.destination ?? null, filter.ids ?? null];
}

function toDeadLetter(row: DeadLetterRow): DeadLetter {
  return {
    id: row.id,
    eventId: row.event_id,
    destination: row.destination,
    type: row.type ?? undefined,
    aggregateType: row.aggregatetype ?? undefined,
    aggregateId: row.aggregateid ?? undefined,
    attempts: row.attempts,
    error: row.last_error ?? undefined,
    createdAt: new Date(row.created_at),
    blocksKey: row.holds_key,
  };
}
