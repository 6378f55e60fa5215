import { ConfigurationError } from '../../errors/index.js';
import { READ_LOG_LAYOUT_SQL } from '../sql/read-log-layout.sql.js';
import type { SqlClient, SqlRow } from '../sql-client.js';
import type { OutboxNames } from '../table-names.js';
import { DAY_MS, startOfDay, timeOfId } from './event-day.js';

/** A part of a partitioned event log. */
export interface LogPartition {
  /** Name of its table, unquoted; it is in the schema of the log. */
  readonly name: string;
  /** `day`: one day; `default`: what no other takes; `other`: what the log held before it was partitioned. */
  readonly kind: 'day' | 'default' | 'other';
  /** It takes the events whose ids were made from here on; undefined where it has no such bound. */
  readonly from: Date | undefined;
  /** It takes the events whose ids were made before; undefined where it has no such bound. */
  readonly to: Date | undefined;
  /** As of the last analyze. */
  readonly estimatedRows: number;
  /** With indexes. */
  readonly bytes: number;
}

export interface LogLayout {
  readonly isPartitioned: boolean;
  /** By the database's clock. */
  readonly nowMs: number;
  readonly partitions: readonly LogPartition[];
}

/** @throws ConfigurationError for a log that was partitioned by something else than this library. */
export async function readLogLayout(client: SqlClient, names: OutboxNames): Promise<LogLayout> {
  const { rows } = await client.query(READ_LOG_LAYOUT_SQL, [names.event]);
  const [first] = rows;
  if (first === undefined) {
    throw new ConfigurationError(`there is no event log ${names.event}. Run the migrations first.`);
  }
  const key = first.partition_key;
  if (key !== null && key !== 'RANGE (id)') {
    throw new ConfigurationError(
      `the event log ${names.event} is partitioned by ${String(key)}, and not by this library, which partitions by RANGE (id). Look after its partitions as before.`,
    );
  }
  return {
    isPartitioned: key !== null,
    nowMs: Number(first.now_ms),
    partitions: rows.filter(({ name }) => name !== null).map(toPartition),
  };
}

/** True for a partition that takes events of the day that begins then, so that no other can. */
export function coversDay({ kind, from, to }: LogPartition, startMs: number): boolean {
  if (kind === 'default') return false;
  const begins = from?.getTime() ?? Number.NEGATIVE_INFINITY;
  const ends = to?.getTime() ?? Number.POSITIVE_INFINITY;
  return begins < startMs + DAY_MS && ends > startMs;
}

function toPartition(row: SqlRow): LogPartition {
  const from = timeOf(row.from_id);
  const to = timeOf(row.to_id);
  return {
    name: String(row.name),
    kind: row.is_default === true ? 'default' : isDay(from, to) ? 'day' : 'other',
    from,
    to,
    estimatedRows: Number(row.estimated_rows),
    bytes: Number(row.bytes),
  };
}

function timeOf(id: unknown): Date | undefined {
  return typeof id === 'string' ? new Date(timeOfId(id)) : undefined;
}

function isDay(from: Date | undefined, to: Date | undefined): boolean {
  return (
    from !== undefined && from.getTime() === startOfDay(from.getTime()) && to?.getTime() === from.getTime() + DAY_MS
  );
}
