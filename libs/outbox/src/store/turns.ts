import type { DataSource } from 'typeorm';
import { outsideTransaction } from '../transaction/index.js';
import { rowsOf } from './data-source-client.js';
import { TAKE_TURN_SQL } from './sql/take-turn.sql.js';
import type { SqlClient } from './sql-client.js';

/** What a piece of upkeep came to: what it answered, or that another process was at it just then. */
export type Turn<T> = { readonly isOurs: true; readonly result: T } | { readonly isOurs: false };

/**
 * Lets one process at a time do the upkeep of one set of tables: each piece of it is a short transaction of its own,
 * which waits for a lock no longer than it may, and does nothing while another process has its turn.
 */
export class Turns {
  constructor(
    private readonly dataSource: DataSource,
    /** The same text in every process that takes turns. */
    private readonly what: string,
  ) {}

  /** @throws what `work` throws; then nothing was done. See `isLockTimeout`. */
  take<T>(lockTimeoutMs: number, work: (client: SqlClient) => Promise<T>): Promise<Turn<T>> {
    return outsideTransaction(() =>
      // Each statement is to see what was committed before it, whatever the database's default is.
      this.dataSource.transaction('READ COMMITTED', async (manager): Promise<Turn<T>> => {
        const client: SqlClient = {
          query: async (text, values) => ({ rows: rowsOf(await manager.query(text, [...values])) }),
        };
        const { rows } = await client.query(TAKE_TURN_SQL, [this.what, `${lockTimeoutMs}ms`]);
        if (rows[0]?.is_mine !== true) return { isOurs: false };
        return { isOurs: true, result: await work(client) };
      }),
    );
  }
}
