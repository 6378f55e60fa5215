import { literal } from '../migrations/schema-dialect.js';
import { PROMISE } from '../sql/convert-log.sql.js';
import type { OutboxNames } from '../table-names.js';

// What defines tables and locks them; it cannot be prepared, unlike the statements in ../sql.

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
