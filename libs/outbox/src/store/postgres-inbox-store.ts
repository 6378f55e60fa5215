import type { EntityManager } from 'typeorm';
import { ticketOf } from '../transaction/index.js';
import type { InboxStore, ProcessedEntry, ProcessedEvent, RecordOutcome } from './inbox-store.js';
import { findProcessedEventSql } from './sql/find-processed-event.sql.js';
import { keepProcessedResultSql } from './sql/keep-processed-result.sql.js';
import { recordProcessedEventSql } from './sql/record-processed-event.sql.js';
import { sqlStateOf } from './sql-state.js';
import { type Statement, statementOf } from './statement.js';
import type { InboxNames } from './table-names.js';

/** Serialization failure, deadlock, lock not available. */
const CONFLICTS: ReadonlySet<string> = new Set(['40001', '40P01', '55P03']);
/** Connection exception, insufficient resources, operator intervention (shutdown, crash, cannot connect now). */
const OUTAGE = /^(08|53|57P0[123])/;

interface ProcessedRow {
  readonly content_digest: Buffer;
  readonly result: unknown;
}

/** Of the statement that records; the record that was there, if it could be seen. */
type RecordRow = { readonly is_recorded: boolean } & (ProcessedRow | { readonly content_digest: null });

/** Processed events on PostgreSQL, in the transaction of the TypeORM manager that it is given. */
export class PostgresInboxStore implements InboxStore {
  private readonly recordStatement: Statement;
  private readonly findSql: string;
  private readonly keepResultSql: string;

  /** @param options.preparesStatements whether connections that reach PostgreSQL directly keep the statement. */
  constructor(names: InboxNames, { preparesStatements }: { readonly preparesStatements: boolean }) {
    this.recordStatement = statementOf('outbox_inbox', recordProcessedEventSql(names), { preparesStatements });
    this.findSql = findProcessedEventSql(names);
    this.keepResultSql = keepProcessedResultSql(names);
  }

  async record(manager: EntityManager, entry: ProcessedEntry, waitMs: number): Promise<RecordOutcome> {
    const { consumer, eventId, eventType, contentDigest } = entry;
    const values = [consumer, eventId, eventType, contentDigest, String(Math.max(1, Math.ceil(waitMs)))];
    const { rows } = await ticketOf(manager).query(() => ({ ...this.recordStatement, values }));
    const row = rows[0] as unknown as RecordRow;
    if (row.is_recorded) return { isRecorded: true };
    return { isRecorded: false, earlier: row.content_digest === null ? undefined : toProcessedEvent(row) };
  }

  async find(manager: EntityManager, consumer: string, eventId: string): Promise<ProcessedEvent | undefined> {
    const [row] = await manager.query<ProcessedRow[]>(this.findSql, [consumer, eventId]);
    return row && toProcessedEvent(row);
  }

  async keepResult(manager: EntityManager, consumer: string, eventId: string, resultJson: string): Promise<void> {
    await manager.query(this.keepResultSql, [consumer, eventId, resultJson]);
  }

  isTransient(error: unknown): boolean {
    const state = sqlStateOf(error);
    return state !== undefined && (CONFLICTS.has(state) || OUTAGE.test(state));
  }
}

function toProcessedEvent(row: ProcessedRow): ProcessedEvent {
  return { contentDigest: row.content_digest, result: row.result ?? undefined };
}
