import type { BlockedKey, BlockedKeyFilter, BlockedKeyStore } from './blocked-key-store.js';
import { type ChangedDeliveries, changedIn, type ManualChange, operationValues } from './manual-change.js';
import { listBlockedKeysSql, releaseBlockedKeysSql } from './sql/blocked-keys.sql.js';
import type { SqlClient } from './sql-client.js';
import type { OutboxNames } from './table-names.js';

interface BlockedKeyRow {
  readonly id: string;
  readonly event_id: string;
  readonly destination: string;
  readonly is_dead: boolean;
  readonly available_at: Date;
  readonly last_error: string | null;
  readonly type: string | null;
  readonly aggregatetype: string | null;
  readonly aggregateid: string | null;
  readonly followers: number;
}

export class PostgresBlockedKeyStore implements BlockedKeyStore {
  constructor(
    private readonly client: SqlClient,
    private readonly names: OutboxNames,
  ) {}

  async list(filter: BlockedKeyFilter, limit: number): Promise<readonly BlockedKey[]> {
    const { rows } = await this.client.query(listBlockedKeysSql(this.names), [...valuesOf(filter), limit]);
    // The columns are those of the statement; a test prepares it against the migrated schema.
    return (rows as unknown as readonly BlockedKeyRow[]).map(toBlockedKey);
  }

  async release(filter: BlockedKeyFilter, change: ManualChange): Promise<ChangedDeliveries> {
    const values = [...valuesOf(filter), ...operationValues(change, filter)];
    return changedIn((await this.client.query(releaseBlockedKeysSql(this.names), values)).rows);
  }
}

function valuesOf(filter: BlockedKeyFilter): unknown[] {
  return [filter.destination ?? null, filter.aggregateType ?? null, filter.aggregateId ?? null];
}

function toBlockedKey(row: BlockedKeyRow): BlockedKey {
  return {
    destination: row.destination,
    aggregateType: row.aggregatetype ?? undefined,
    aggregateId: row.aggregateid ?? undefined,
    heldBy: {
      id: row.id,
      eventId: row.event_id,
      type: row.type ?? undefined,
      state: row.is_dead ? 'dead' : 'waiting',
      availableAt: new Date(row.available_at),
      error: row.last_error ?? undefined,
    },
    followers: row.followers,
  };
}
