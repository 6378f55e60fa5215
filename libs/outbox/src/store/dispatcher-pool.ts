import type { DataSource } from 'typeorm';
import { ConfigurationError } from '../errors/index.js';
import type { SqlClient, SqlRow } from './sql-client.js';

/** The part of node-postgres' Pool that is used here. */
interface PgPool {
  readonly options: PgPoolOptions;
  query(text: string, values: unknown[]): Promise<{ rows: SqlRow[] }>;
  on(event: 'error', listener: (error: Error) => void): unknown;
  end(): Promise<void>;
}

interface PgPoolOptions {
  readonly password?: unknown;
  readonly ssl?: unknown;
  readonly application_name?: string;
  readonly [option: string]: unknown;
}

/** No statement of the dispatcher takes longer than this unless something is wrong; then the connection is given up. */
const STATEMENT_TIMEOUT_MS = 30_000;

/**
 * A small pool of the dispatcher's own, so that a busy application cannot keep events from leaving, nor the dispatcher
 * the application from its connections. Built from the options that TypeORM gave to its own pool, with its own pg.
 */
export class DispatcherPool implements SqlClient {
  private readonly pool: PgPool;

  /** @param onIdleError told when an idle connection is lost; without a listener the process would end. */
  constructor(dataSource: DataSource, size: number, onIdleError: (error: Error) => void) {
    const master = (dataSource.driver as { master?: PgPool }).master;
    if (master === undefined) {
      throw new ConfigurationError(
        'the DataSource of the outbox is not initialized or not PostgreSQL. Give it an initialized PostgreSQL DataSource.',
      );
    }
    const source = master.options;
    const Pool = master.constructor as new (options: PgPoolOptions) => PgPool;
    this.pool = new Pool({
      ...source,
      // pg-pool makes both non-enumerable, so the spread leaves them out.
      password: source.password,
      ssl: source.ssl,
      max: size,
      min: 0,
      application_name: `${source.application_name ?? 'app'}:outbox`,
      statement_timeout: STATEMENT_TIMEOUT_MS,
      query_timeout: STATEMENT_TIMEOUT_MS + 5000,
      connectionTimeoutMillis: STATEMENT_TIMEOUT_MS,
      pipeline: false,
      keepAlive: true,
    });
    this.pool.on('error', onIdleError);
  }

  query(text: string, values: readonly unknown[]): Promise<{ rows: SqlRow[] }> {
    return this.pool.query(text, [...values]);
  }

  close(): Promise<void> {
    return this.pool.end();
  }
}
