import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { inject } from 'vitest';

export interface TestDatabase {
  readonly url: string;
  /** Runs one statement on a pool of its own and returns the rows. */
  query<Row extends pg.QueryResultRow = Record<string, unknown>>(
    sql: string,
    params?: readonly unknown[],
  ): Promise<Row[]>;
  /** Ends every session of this database, then removes it. May be called more than once. */
  drop(): Promise<void>;
}

/** A fresh, empty database with a name of its own, so that test files never meet. */
export async function createTestDatabase(): Promise<TestDatabase> {
  const adminUrl = inject('adminDatabaseUrl');
  const name = `test_${randomUUID().replaceAll('-', '')}`;
  await onServer(adminUrl, `create database ${name}`);

  const url = new URL(adminUrl);
  url.pathname = `/${name}`;
  const pool = new pg.Pool({ connectionString: url.href, max: 4 });
  // An idle connection reports here that its session was ended, as drop() and chaos tests do on purpose.
  pool.on('error', () => undefined);
  let dropped: Promise<void> | undefined;

  return {
    url: url.href,
    async query<Row extends pg.QueryResultRow>(sql: string, params: readonly unknown[] = []): Promise<Row[]> {
      const result = await pool.query<Row>(sql, [...params]);
      return result.rows;
    },
    drop() {
      dropped ??= pool.end().then(() => onServer(adminUrl, `drop database if exists ${name} with (force)`));
      return dropped;
    },
  };
}

async function onServer(adminUrl: string, sql: string): Promise<void> {
  const client = new pg.Client(adminUrl);
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}
