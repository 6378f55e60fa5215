import type { DataSource } from 'typeorm';
import { ConfigurationError } from '../errors/index.js';
import { detectPooler, type PostgresConnection } from './detect-pooler.js';
import { runSteps, type StepAnswer, type StepClient, type StepQuery } from './run-steps.js';
import type { SqlClient, SqlRow, SqlSteps, Step, StepResult } from './sql-client.js';

/** The parts of node-postgres that are used here. */
interface PooledClient extends PostgresConnection, StepClient {
  query(config: string | StepQuery): Promise<StepAnswer & { readonly rows: readonly SqlRow[] }>;
  release(destroy?: boolean): void;
  on(event: 'error', listener: () => void): unknown;
  off(event: 'error', listener: () => void): unknown;
}

interface PgPool {
  readonly options: PgPoolOptions;
  connect(): Promise<PooledClient>;
  query(text: string, values: unknown[]): Promise<{ rows: SqlRow[] }>;
  on(event: 'error', listener: (error: Error) => void): unknown;
  end(): Promise<void>;
}

interface PgPoolOptions {
  readonly password?: unknown;
  readonly ssl?: unknown;
  readonly application_name?: string;
  readonly onConnect?: (client: PooledClient) => unknown;
  readonly [option: string]: unknown;
}

/** No statement of the dispatcher takes longer than this unless something is wrong; then the connection is given up. */
const STATEMENT_TIMEOUT_MS = 30_000;

/**
 * Every statement of the dispatcher finds its rows by an index, whatever the statistics say: they are of a queue that
 * was empty a moment ago, or full. So plans are made once per connection, and joins or scans of whole tables are not
 * among them. The claim relies on the snapshot that READ COMMITTED takes for each statement.
 */
export const SESSION_SETTINGS = `set plan_cache_mode = force_generic_plan; set enable_seqscan = off; set enable_bitmapscan = off;
set enable_hashjoin = off; set enable_mergejoin = off; set jit = off; set default_transaction_isolation = 'read committed'`;

const isSaidByItsStatements = (): undefined => undefined;

/**
 * A small pool of the dispatcher's own, so that a busy application cannot keep events from leaving, nor the dispatcher
 * the application from its connections. Built from the options that TypeORM gave to its own pool, with its own pg.
 */
export class DispatcherPool implements SqlClient, SqlSteps {
  private readonly pool: PgPool;
  /** Connections to PostgreSQL itself: there, and not behind a pooler, a session keeps what was prepared and set. */
  private readonly direct = new WeakSet<PooledClient>();

  constructor(
    dataSource: DataSource,
    {
      size,
      preparesStatements,
      onIdleError,
    }: {
      readonly size: number;
      /** Whether a connection that reaches PostgreSQL itself is taken for a session that keeps what was prepared. */
      readonly preparesStatements: boolean;
      /** Told when an idle connection is lost; without a listener the process would end. */
      readonly onIdleError: (error: Error) => void;
    },
  ) {
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
      pipeline: true,
      keepAlive: true,
      // An older pg-pool does not call it; everything works without, only slower.
      onConnect: async (client) => {
        await source.onConnect?.(client);
        if (preparesStatements) await this.settle(client);
      },
    });
    this.pool.on('error', onIdleError);
  }

  query(text: string, values: readonly unknown[]): Promise<{ rows: SqlRow[] }> {
    return this.pool.query(text, [...values]);
  }

  async execute(steps: readonly Step[]): Promise<readonly StepResult[]> {
    if (steps.length === 0) return [];
    const client = await this.pool.connect();
    // A connection may end between two answers. Its statements fail then; without a listener the process would end.
    client.on('error', isSaidByItsStatements);
    let hasFailed = true;
    try {
      const results = await runSteps(client, steps, { isPrepared: this.direct.has(client) });
      hasFailed = false;
      return results;
    } finally {
      client.off('error', isSaidByItsStatements);
      // After a failure nobody knows what state the connection is in; a new one costs little.
      client.release(hasFailed);
    }
  }

  close(): Promise<void> {
    return this.pool.end();
  }

  private async settle(client: PooledClient): Promise<void> {
    if (await detectPooler(client)) return;
    await client.query(SESSION_SETTINGS);
    this.direct.add(client);
  }
}
