import type { OutboxNames } from '../table-names.js';

/** While a move is being prepared. */
export const PROMISE = 'outbox_partition_bound';

/** An event whose id is no UUID version 7, if there is one. Reads the log as a whole, and locks nothing. */
export function findOtherIdSql({ event }: OutboxNames): string {
  return `select id::text from ${event} where substring(id::text from 15 for 1) <> '7' limit 1`;
}

/** The promise of the table $1, with the bound $2: one row, if there is one, and whether it was proven. */
export const READ_PROMISE_SQL = `select k.convalidated as is_proven, position($2 in pg_get_constraintdef(k.oid)) > 0 as is_of_bound
from pg_constraint k where k.conrelid = to_regclass($1) and k.conname = '${PROMISE}'`;

export function isEmptySql(names: OutboxNames, table = names.event): string {
  return `select not exists (select from ${table}) as is_empty`;
}
