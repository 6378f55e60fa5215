import { orderingKey } from '../event/index.js';
import { type ManualChange, operationValues } from './manual-change.js';
import type { ReplayedDelivery, ReplayFilter, ReplayPreview, ReplayStore } from './replay-store.js';
import { LANES } from './sql/insert-events.sql.js';
import { beginReplaySql, previewReplaySql, queueReplayedSql, selectReplayedSql } from './sql/replay.sql.js';
import type { SqlClient } from './sql-client.js';
import type { OutboxNames } from './table-names.js';

interface SelectedRow {
  readonly id: string;
  readonly destination: string;
  readonly aggregatetype: string;
  readonly aggregateid: string;
  readonly is_ordered: boolean;
}

export class PostgresReplayStore implements ReplayStore {
  constructor(
    private readonly client: SqlClient,
    private readonly names: OutboxNames,
  ) {}

  async preview(filter: ReplayFilter): Promise<readonly ReplayPreview[]> {
    const { rows } = await this.client.query(previewReplaySql(this.names), valuesOf(filter));
    // The columns are those of the statement; a test prepares it against the migrated schema.
    return rows as unknown as readonly ReplayPreview[];
  }

  async select(filter: ReplayFilter, limit: number): Promise<readonly ReplayedDelivery[]> {
    const { rows } = await this.client.query(selectReplayedSql(this.names), [...valuesOf(filter), limit]);
    // As above.
    return (rows as unknown as readonly SelectedRow[]).map((row) => ({
      eventId: row.id,
      destination: row.destination,
      aggregateType: row.aggregatetype,
      aggregateId: row.aggregateid,
      isOrdered: row.is_ordered,
    }));
  }

  async begin(filter: ReplayFilter, change: ManualChange): Promise<number> {
    const { rows } = await this.client.query(beginReplaySql(this.names), [...operationValues(change, filter)]);
    return Number(rows[0]?.id);
  }

  async queue(operation: number, by: string, deliveries: readonly ReplayedDelivery[]): Promise<number> {
    const keys = deliveries.map(({ isOrdered, aggregateType, aggregateId }) =>
      isOrdered ? orderingKey(aggregateType, aggregateId) : null,
    );
    const { rows } = await this.client.query(queueReplayedSql(this.names), [
      deliveries.map(({ eventId }) => eventId),
      deliveries.map(({ destination }) => destination),
      keys,
      keys.map((key) => (key === null ? null : Number(BigInt(key) & BigInt(LANES - 1)))),
      operation,
      by,
    ]);
    return Number(rows[0]?.queued);
  }
}

function valuesOf(filter: ReplayFilter): unknown[] {
  return [
    filter.destination ?? null,
    filter.eventIds ?? null,
    filter.type ?? null,
    filter.aggregateType ?? null,
    filter.aggregateId ?? null,
    filter.emittedBefore ?? null,
    filter.emittedAfter ?? null,
  ];
}
