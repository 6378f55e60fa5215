import type { BreakerStore, TripRequest } from './breaker-store.js';
import { closeBreakerSql, giveProbeBackSql, tripBreakerSql } from './sql/breaker.sql.js';
import type { SqlClient } from './sql-client.js';
import type { OutboxNames } from './table-names.js';

export class PostgresBreakerStore implements BreakerStore {
  constructor(
    private readonly client: SqlClient,
    private readonly names: OutboxNames,
  ) {}

  async trip(request: TripRequest): Promise<number> {
    const { destination, isProbe, baseMs, capMs, jitter, error } = request;
    const values = [destination, isProbe, baseMs, capMs, jitter, error];
    const { rows } = await this.client.query(tripBreakerSql(this.names), values);
    return Number(rows[0]?.pause_ms ?? 0);
  }

  async close(destination: string): Promise<void> {
    await this.client.query(closeBreakerSql(this.names), [destination]);
  }

  async giveProbeBack(destination: string): Promise<void> {
    await this.client.query(giveProbeBackSql(this.names), [destination]);
  }
}
