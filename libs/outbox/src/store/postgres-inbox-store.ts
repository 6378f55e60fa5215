import type { EntityManager } from 'typeorm';
import type { InboxStore, ProcessedEntry, ProcessedEvent } from './inbox-store.js';
import { findProcessedEventSql } from './sql/find-processed-event.sql.js';
import { keepProcessedResultSql } from './sql/keep-processed-result.sql.js';
import { recordProcessedEventSql } from './sql/record-processed-event.sql.js';
import type { InboxNames } from './table-names.js';

/** Serialization failure, deadlock, lock not available. */
const CONFLICTS: ReadonlySet<string> = new Set(['40001', '40P01', '55P03']);
/** Connection exception, insufficient resources, operator intervention (shutdown, crash, cannot connect now). */
const OUTAGE = /^(08|53|57P0[123])/;

/** Processed events on PostgreSQL, in the transaction of the TypeORM manager that it is given. */
export class PostgresInboxStore implements InboxStore {
  private readonly recordSql: string;
  private readonly findSql: string;
  private readonly keepResultSql: string;

  constructor(names: InboxNames) {
    this.recordSql = recordProcessedEventSql(names);
    this.findSql = findProcessedEventSql(names);
    this.keepResultSql = keepProcessedResultSql(names);
  }

  async record(manager: EntityManager, entry: ProcessedEntry, waitMs: number): Promise<boolean> {
    const { consumer, eventId, eventType, contentDigest } = entry;
    const parameters = [consumer, eventId, eventType, contentDigest, String(Math.max(1, Math.ceil(waitMs)))];
    const [row] = await manager.query<{ is_recorded: boolean }[]>(this.recordSql, parameters);
    return row?.is_recorded === true;
  }

  async find(manager: EntityManager, consumer: string, eventId: string): Promise<ProcessedEvent | undefined> {
    const [row] = await manager.query<{ content_digest: Buffer; result: unknown }[]>(this.findSql, [consumer, eventId]);
    return row && { contentDigest: row.content_digest, result: row.result ?? undefined };
  }

  async keepResult(manager: EntityManager, consumer: string, eventId: string, resultJson: string): Promise<void> {
    await manager.query(this.keepResultSql, [consumer, eventId, resultJson]);
  }

  isTransient(error: unknown): boolean {
    const state = sqlStateOf(error);
    return state !== undefined && (CONFLICTS.has(state) || OUTAGE.test(state));
  }
}

/** SQLSTATE of node-postgres' error, or of the one that TypeORM wrapped. */
function sqlStateOf(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null) return undefined;
  const { code, driverError } = error as { code?: unknown; driverError?: unknown };
  if (typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code)) return code;
  return driverError === error ? undefined : sqlStateOf(driverError);
}
