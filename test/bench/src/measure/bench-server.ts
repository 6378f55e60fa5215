import { startEmbeddedPostgres } from 'embedded-postgres-server';
import pg from 'pg';

/** A database of its own for one target, dropped afterwards. */
export interface BenchDatabase {
  readonly url: string;
  query<Row extends pg.QueryResultRow>(sql: string, values?: readonly unknown[]): Promise<Row[]>;
}

/**
 * The one server that all sides of a run share: that of DATABASE_URL (a role that may create databases), or an embedded
 * one with PostgreSQL's own defaults, durability included.
 */
export class BenchServer {
  private created = 0;
  private readonly databases = new Set<string>();

  private constructor(
    private readonly url: string,
    private readonly stopServer: () => Promise<void>,
  ) {}

  static async start(): Promise<BenchServer> {
    const { DATABASE_URL } = process.env;
    if (DATABASE_URL !== undefined) return new BenchServer(DATABASE_URL, async () => undefined);
    const server = await startEmbeddedPostgres({ settings: { fsync: 'on', full_page_writes: 'on' } });
    return new BenchServer(server.url, () => server.stop());
  }

  /** Also in the middle of a measurement: its databases go, and whoever uses them loses the connection. */
  async stop(): Promise<void> {
    for (const name of this.databases) await this.drop(name);
    await this.stopServer();
  }

  /** Runs `work` with a new, empty database and drops it. */
  async withDatabase<T>(work: (database: BenchDatabase) => Promise<T>): Promise<T> {
    this.created += 1;
    const name = `outbox_bench_${process.pid}_${this.created}`;
    await this.administer(`create database ${name}`);
    this.databases.add(name);
    const url = new URL(this.url);
    url.pathname = `/${name}`;
    const pool = new pg.Pool({ connectionString: url.href, max: 2 });
    // A connection may still be closing when its database goes, and says so.
    pool.on('error', () => undefined);
    try {
      return await work({
        url: url.href,
        query: async <Row extends pg.QueryResultRow>(sql: string, values: readonly unknown[] = []) =>
          (await pool.query<Row>(sql, [...values])).rows,
      });
    } finally {
      await pool.end();
      await this.drop(name);
    }
  }

  /** Version and the settings that matter for the figures, as the server tells them. */
  async describe(): Promise<Record<string, string>> {
    const client = new pg.Client({ connectionString: this.url });
    await client.connect();
    const names = [
      'server_version',
      'shared_buffers',
      'fsync',
      'synchronous_commit',
      'full_page_writes',
      'max_wal_size',
    ];
    const { rows } = await client.query<{ name: string; setting: string }>(
      'select name, current_setting(name) as setting from pg_settings where name = any($1) order by name',
      [names],
    );
    await client.end();
    return Object.fromEntries(rows.map(({ name, setting }) => [name, setting]));
  }

  private async drop(name: string): Promise<void> {
    this.databases.delete(name);
    await this.administer(`drop database if exists ${name} with (force)`);
  }

  private async administer(sql: string): Promise<void> {
    const client = new pg.Client({ connectionString: this.url });
    await client.connect();
    try {
      await client.query(sql);
    } finally {
      await client.end();
    }
  }
}
