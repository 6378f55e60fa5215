import type { PrunedRows, RetentionStore } from './retention-store.js';
import { pruneDeliveriesSql, pruneEventsSql } from './sql/prune.sql.js';
import type { SqlClient } from './sql-client.js';
import type { OutboxNames } from './table-names.js';

export class PostgresRetentionStore implements RetentionStore {
  constructor(
    private readonly client: SqlClient,
    private readonly names: OutboxNames,
  ) {}

  async prune(olderThanMs: number, batchSize: number): Promise<PrunedRows> {
    const deliveries = await this.pruned(pruneDeliveriesSql(this.names), olderThanMs, batchSize);
    const events = await this.pruned(pruneEventsSql(this.names), olderThanMs, batchSize);
    return { deliveries, events };
  }

  private async pruned(text: string, olderThanMs: number, batchSize: number): Promise<number> {
    const { rows } = await this.client.query(text, [olderThanMs, batchSize]);
    return Number(rows[0]?.pruned);
  }
}
