import type { EventEmitter } from 'node:events';
import type { DataSource, QueryRunner } from 'typeorm';

/** What this room uses of node-postgres. `connection` and its events are not documented, hence the checks below. */
export interface PgClient {
  query(...args: unknown[]): unknown;
  readonly connection?: EventEmitter;
  readonly pipeline?: boolean;
  /** Of the server process, as the handshake named it. */
  readonly processID?: number | null;
  getTransactionStatus?(): string | null;
}

export interface PgResult {
  readonly rows: readonly Record<string, unknown>[];
}

export interface PgQueryConfig {
  readonly text: string;
  /**
   * Under which the statement may stay prepared on the connection, where that is safe (PreparedSession). It must belong
   * to this text alone, and the first row must then have `backend_pid`, the answer of `pg_backend_pid()`.
   */
  readonly name?: string | undefined;
  readonly values: readonly unknown[];
}

type QueryCallback = (error: Error | null | undefined, result: PgResult) => void;

export interface PgQuery {
  /** Read by `submit()`. */
  name?: string | undefined;
  submit(connection: EventEmitter): Error | null | undefined;
  handleError(error: Error, connection: unknown): void;
}

export type PgQueryClass = new (config: PgQueryConfig, values: undefined, callback: QueryCallback) => PgQuery;

/** The node-postgres client on which an open transaction of this runner runs; undefined when there is none yet. */
export function clientOf(runner: QueryRunner): PgClient | undefined {
  // `connect()` would take a new connection on a released runner and answers later; the field is there at once.
  return (runner as unknown as { databaseConnection?: PgClient }).databaseConnection;
}

/** The Query class of the very node-postgres that TypeORM loaded; undefined with pg-native. */
export function queryClassOf(dataSource: DataSource): PgQueryClass | undefined {
  const postgres = (dataSource.driver as { postgres?: { Query?: unknown } }).postgres;
  return typeof postgres?.Query === 'function' ? (postgres.Query as PgQueryClass) : undefined;
}

/** Gives the connection up instead of returning it to the pool: its transaction is in an unknown state. */
export async function destroyConnection(runner: QueryRunner, reason: Error): Promise<void> {
  const destroyable = runner as unknown as { releasePostgresConnection?(error: Error): Promise<void> };
  if (destroyable.releasePostgresConnection) await destroyable.releasePostgresConnection(reason);
  else await runner.release();
}
