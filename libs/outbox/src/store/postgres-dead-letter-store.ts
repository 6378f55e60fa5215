import type { EventHeaders } from '../event/index.js';
import type {
  AttemptRecord,
  DeadLetter,
  DeadLetterDetails,
  DeadLetterFilter,
  DeadLetterReader,
  DeadLetterStore,
  RedriveRequest,
} from './dead-letter-store.js';
import { type ChangedDeliveries, changedIn, type ManualChange, operationValues } from './manual-change.js';
import {
  countDeadLettersSql,
  discardDeadLettersSql,
  listDeadLettersSql,
  redriveDeadLettersSql,
  showDeadLetterSql,
} from './sql/dead-letters.sql.js';
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

interface DetailsRow extends DeadLetterRow {
  readonly history: readonly HistoryEntry[] | null;
  readonly redrives: number;
  readonly followers: number;
  readonly payload: string | null;
  readonly headers: EventHeaders | null;
  readonly version: number | null;
  readonly sequence: string | null;
  readonly emitted_at: Date | null;
}

interface HistoryEntry {
  readonly at: string;
  readonly attempt?: number;
  readonly error?: string;
  readonly redrivenBy?: string;
}

const EVERYTHING_AT_ONCE: RedriveRequest = { limit: Number.MAX_SAFE_INTEGER, spacingMs: 0 };

export class PostgresDeadLetterStore implements DeadLetterStore, DeadLetterReader {
  constructor(
    private readonly client: SqlClient,
    private readonly names: OutboxNames,
  ) {}

  async list(filter: DeadLetterFilter, limit: number, after?: string): Promise<readonly DeadLetter[]> {
    const { rows } = await this.client.query(listDeadLettersSql(this.names), [
      ...valuesOf(filter),
      limit,
      after ?? null,
    ]);
    // The columns are those of the statement; a test prepares it against the migrated schema.
    return (rows as unknown as readonly DeadLetterRow[]).map(toDeadLetter);
  }

  async count(filter: DeadLetterFilter): Promise<number> {
    const { rows } = await this.client.query(countDeadLettersSql(this.names), valuesOf(filter));
    return Number(rows[0]?.total);
  }

  async show(id: string): Promise<DeadLetterDetails | undefined> {
    const { rows } = await this.client.query(showDeadLetterSql(this.names), [id]);
    // As above.
    const [row] = rows as unknown as readonly DetailsRow[];
    return row === undefined ? undefined : toDetails(row);
  }

  async redrive(
    filter: DeadLetterFilter,
    change: ManualChange,
    { limit, spacingMs } = EVERYTHING_AT_ONCE,
  ): Promise<ChangedDeliveries> {
    const details = { ...filter, ...(spacingMs > 0 ? { spacingMs } : {}) };
    const values = [...valuesOf(filter), limit, ...operationValues(change, details), spacingMs];
    return changedIn((await this.client.query(redriveDeadLettersSql(this.names), values)).rows);
  }

  async discard(
    filter: DeadLetterFilter,
    change: ManualChange,
    limit = EVERYTHING_AT_ONCE.limit,
  ): Promise<ChangedDeliveries> {
    const values = [...valuesOf(filter), limit, ...operationValues(change, filter)];
    return changedIn((await this.client.query(discardDeadLettersSql(this.names), values)).rows);
  }
}

function valuesOf(filter: DeadLetterFilter): unknown[] {
  return [
    filter.destination ?? null,
    filter.ids ?? null,
    filter.type ?? null,
    filter.aggregateType ?? null,
    filter.aggregateId ?? null,
    filter.createdBefore ?? null,
    filter.createdAfter ?? null,
  ];
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

function toDetails(row: DetailsRow): DeadLetterDetails {
  return {
    ...toDeadLetter(row),
    history: (row.history ?? []).map(toAttemptRecord),
    redrives: row.redrives,
    followers: row.followers,
    emittedAt: row.emitted_at === null ? undefined : new Date(row.emitted_at),
    version: row.version ?? undefined,
    sequence: row.sequence === null ? undefined : BigInt(row.sequence),
    headers: row.headers ?? undefined,
    payload: row.payload ?? undefined,
  };
}

function toAttemptRecord({ at, attempt, error, redrivenBy }: HistoryEntry): AttemptRecord {
  return { at: new Date(at), attempt, error, redrivenBy };
}
