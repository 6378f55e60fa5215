import type { DataSource, DataSourceOptions } from 'typeorm';
import type { SqlClient, SqlRow } from './sql-client.js';

interface PgPool {
  query(text: string, values: unknown[]): Promise<{ rows: SqlRow[] }>;
}

/**
 * Single statements on the application's pool, past TypeORM: for wake-ups, where its work on a statement would be a
 * good part of the latency. Nothing of the caller's transaction takes part.
 */
export class ApplicationPool implements SqlClient {
  constructor(private readonly dataSource: DataSource) {}

  /** Rejects also when the DataSource is not initialized (any more). */
  async query(text: string, values: readonly unknown[]): Promise<{ rows: SqlRow[] }> {
    const { master } = this.dataSource.driver as unknown as { master: PgPool };
    return master.query(text, [...values]);
  }
}

/** What pg-pool takes when nobody says otherwise. */
const DEFAULT_POOL_SIZE = 10;

/** Most connections that the application's own pool opens. */
export function applicationPoolSize(options: DataSourceOptions): number {
  const { poolSize, extra } = options as { readonly poolSize?: number; readonly extra?: { readonly max?: number } };
  return extra?.max ?? poolSize ?? DEFAULT_POOL_SIZE;
}
