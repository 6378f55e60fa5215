import pg from 'pg';

/** One database, asked with plain SQL: what the demo says is counted here and nowhere else. */
export class Database {
  private readonly pool: pg.Pool;

  constructor(
    readonly url: string,
    /** For people; without the password where that is not ours to show. */
    readonly shownUrl: string,
  ) {
    this.pool = new pg.Pool({ connectionString: url, max: 2, application_name: 'demo' });
    // Idle connections report here that the server ends them, which it does when the demo is interrupted.
    this.pool.on('error', () => undefined);
  }

  async rows<Row extends pg.QueryResultRow>(sql: string, values: readonly unknown[] = []): Promise<Row[]> {
    return (await this.pool.query<Row>(sql, [...values])).rows;
  }

  /** The only value of a query that answers one row with one integer. */
  async count(sql: string, values: readonly unknown[] = []): Promise<number> {
    const [row] = await this.rows<Record<string, unknown>>(sql, values);
    return Number(Object.values(row ?? {})[0]);
  }

  close(): Promise<void> {
    return this.pool.end();
  }
}
