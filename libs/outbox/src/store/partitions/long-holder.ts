import { LONG_HOLDER_SQL } from '../sql/long-holder.sql.js';
import type { SqlClient } from '../sql-client.js';

/** Somebody in whose way it would be to lock the tables against everybody; undefined when nobody is seen. */
export async function longHolder(
  client: SqlClient,
  tables: readonly string[],
  longerThanMs: number,
): Promise<string | undefined> {
  const { rows } = await client.query(LONG_HOLDER_SQL, [tables, longerThanMs]);
  const holder = rows[0]?.holder;
  return typeof holder === 'string' ? holder : undefined;
}
