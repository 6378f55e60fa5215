import type { DataSource } from 'typeorm';
import { outsideTransaction } from '../transaction/index.js';
import type { SqlClient, SqlRow } from './sql-client.js';

/** Statements on the application's own pool, never inside a transaction of the caller. For rare work, not for dispatch. */
export class DataSourceClient implements SqlClient {
  constructor(private readonly dataSource: DataSource) {}

  async query(text: string, values: readonly unknown[]): Promise<{ rows: SqlRow[] }> {
    const raw: unknown = await outsideTransaction(() => this.dataSource.query(text, [...values]));
    return { rows: rowsOf(raw) };
  }
}

/** TypeORM answers rows, but `[rows, count]` for UPDATE and DELETE. */
export function rowsOf(raw: unknown): SqlRow[] {
  if (!Array.isArray(raw)) return [];
  const [first] = raw;
  return (Array.isArray(first) ? first : raw) as SqlRow[];
}
