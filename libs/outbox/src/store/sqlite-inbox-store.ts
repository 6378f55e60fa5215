import type { EntityManager } from 'typeorm';
import type { InboxStore, ProcessedEntry, ProcessedEvent, RecordOutcome } from './inbox-store.js';
import type { InboxNames } from './table-names.js';

/** Another connection or process writes: SQLite lets one do so at a time, and gives up after its busy timeout. */
const BUSY = /^SQLITE_(BUSY|LOCKED)/;

/**
 * Processed events on SQLite, in the transaction of the TypeORM manager that it is given. SQLite lets one transaction
 * write at a time, so nobody is ever waited for here: whoever comes second finds the record, or the file busy, which
 * is transient.
 */
export class SqliteInboxStore implements InboxStore {
  constructor(private readonly names: InboxNames) {}

  async record(manager: EntityManager, entry: ProcessedEntry): Promise<RecordOutcome> {
    const { consumer, eventId, eventType, contentDigest } = entry;
    const rows: unknown[] = await manager.query(
      `insert into ${this.names.processed} (consumer_name, event_id, event_type, content_digest) values (?, ?, ?, ?)
on conflict (consumer_name, event_id) do nothing returning 1 as is_recorded`,
      [consumer, eventId, eventType, contentDigest],
    );
    return rows.length === 1 ? { isRecorded: true } : { isRecorded: false, earlier: undefined };
  }

  async find(manager: EntityManager, consumer: string, eventId: string): Promise<ProcessedEvent | undefined> {
    const [row]: { content_digest: Uint8Array; result: string | null }[] = await manager.query(
      `select content_digest, result from ${this.names.processed} where consumer_name = ? and event_id = ?`,
      [consumer, eventId],
    );
    if (row === undefined) return undefined;
    return {
      contentDigest: Buffer.from(row.content_digest),
      result: row.result === null ? undefined : JSON.parse(row.result),
    };
  }

  async keepResult(manager: EntityManager, consumer: string, eventId: string, resultJson: string): Promise<void> {
    await manager.query(`update ${this.names.processed} set result = ? where consumer_name = ? and event_id = ?`, [
      resultJson,
      consumer,
      eventId,
    ]);
  }

  isTransient(error: unknown): boolean {
    if (typeof error !== 'object' || error === null) return false;
    const { code, driverError } = error as { code?: unknown; driverError?: unknown };
    if (typeof code === 'string' && BUSY.test(code)) return true;
    return driverError !== error && this.isTransient(driverError);
  }
}
