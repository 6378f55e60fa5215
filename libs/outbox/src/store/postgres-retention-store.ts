import { readLogLayout } from './partitions/log-layout.js';
import type { PrunedBatch, PruneRequest, RetentionStore } from './retention-store.js';
import { pruneDeliveriesSql, pruneEventsSql } from './sql/prune.sql.js';
import type { SqlClient } from './sql-client.js';
import { sqlStateOf } from './sql-state.js';
import type { OutboxNames } from './table-names.js';
import type { Turn, Turns } from './turns.js';

const START = '(0,0)';
const UNDEFINED_TABLE = '42P01';

export class PostgresRetentionStore implements RetentionStore {
  constructor(
    private readonly client: SqlClient,
    private readonly names: OutboxNames,
    private readonly turns: Turns,
  ) {}

  async eventTables({ includeDays }: { readonly includeDays: boolean }): Promise<readonly string[]> {
    const { isPartitioned, partitions } = await readLogLayout(this.client, this.names);
    if (!isPartitioned) return [this.names.event];
    return partitions.filter(({ kind }) => includeDays || kind !== 'day').map(({ name }) => this.names.table(name));
  }

  pruneDeliveries({ olderThanMs, batchSize, lockTimeoutMs }: PruneRequest): Promise<Turn<number>> {
    return this.turns.take(lockTimeoutMs, async (client) => {
      const { rows } = await client.query(pruneDeliveriesSql(this.names), [olderThanMs, batchSize]);
      return Number(rows[0]?.pruned);
    });
  }

  pruneEvents(
    table: string,
    after: string | undefined,
    { olderThanMs, batchSize, lockTimeoutMs }: PruneRequest,
  ): Promise<Turn<PrunedBatch>> {
    const pruned = this.turns.take(lockTimeoutMs, async (client): Promise<PrunedBatch> => {
      const values = [olderThanMs, batchSize, after ?? START];
      const { rows } = await client.query(pruneEventsSql(this.names, table), values);
      const place = rows[0]?.place;
      return { pruned: Number(rows[0]?.pruned), next: typeof place === 'string' ? place : undefined };
    });
    return pruned.catch((error: unknown) => {
      if (table === this.names.event || sqlStateOf(error) !== UNDEFINED_TABLE) throw error;
      return { isOurs: true, result: { pruned: 0, next: undefined } }; // another process has dropped the partition
    });
  }
}
