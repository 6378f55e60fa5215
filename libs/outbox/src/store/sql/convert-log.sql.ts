import { literal } from '../migrations/schema-dialect.js';
import type { OutboxNames } from '../table-names.js';

/** While a move is being prepared. */
const PROMISE = 'outbox_partition_bound';

/** An event whose id is no UUID version 7, if there is one. Reads the log as a whole, and locks nothing. */
export function findOtherIdSql({ event }: OutboxNames): string {
  return `select id::text from ${event} where substring(id::text from 15 for 1) <> '7' limit 1`;
}

/** Locks the log against everybody for a moment; reads nothing. An older promise is replaced. */
export function promiseBoundSql({ event }: OutboxNames, untilId: string): string {
  return `alter table ${event} drop constraint if exists ${PROMISE},
  add constraint ${PROMISE} check (id < ${literal(untilId)}) not valid`;
}

/** Reads the log as a whole, while events are being stored in it. */
export function proveBoundSql({ event }: OutboxNames): string {
  return `alter table ${event} validate constraint ${PROMISE}`;
}

/** Locks the log against everybody for a moment. */
export function withdrawBoundSql(table: string): string {
  return `alter table ${table} drop constraint if exists ${PROMISE}`;
}

/** The promise of the table $1, with the bound $2: one row, if there is one, and whether it was proven. */
export const READ_PROMISE_SQL = `select k.convalidated as is_proven, position($2 in pg_get_constraintdef(k.oid)) > 0 as is_of_bound
from pg_constraint k where k.conrelid = to_regclass($1) and k.conname = '${PROMISE}'`;

/** Shuts out everybody, to the end of the transaction: what is done under it takes no time that depends on the rows. */
export function lockLogSql({ event }: OutboxNames): string {
  return `lock table ${event} in access exclusive mode`;
}

/** Names in the definitions of views are qualified with it. */
export const EMPTY_SEARCH_PATH_SQL = `set local search_path = ''`;

/** @param legacy the old log, qualified. @param legacyName the same, quoted only. */
export function replaceLogSql({ event }: OutboxNames, legacy: string, legacyName: string): readonly string[] {
  return [
    `alter table ${event} rename to ${legacyName}`,
    `create table ${event} (like ${legacy} including all) partition by range (id)`,
    withdrawBoundSql(event),
  ];
}

/** Reads nothing, because the promise was proven. */
export function attachLegacySql({ event }: OutboxNames, legacy: string, untilId: string): readonly string[] {
  return [
    `alter table ${event} attach partition ${legacy} for values from (minvalue) to (${literal(untilId)})`,
    withdrawBoundSql(legacy),
  ];
}

export function createDefaultSql({ event }: OutboxNames, partition: string): string {
  return `create table ${partition} partition of ${event} default`;
}

export function isEmptySql(table: string): string {
  return `select not exists (select from ${table}) as is_empty`;
}
