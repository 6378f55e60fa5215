import { literal } from '../migrations/schema-dialect.js';
import type { OutboxNames } from '../table-names.js';

// What defines tables and locks them; it cannot be prepared, unlike the statements in ../sql.

/** A table like the log, on its own: making it a partition afterwards lets events be stored meanwhile. */
export function createPartitionSql(names: OutboxNames, partition: string): string {
  return `create table ${partition} (like ${names.event} including all)`;
}

/** Whoever is about to store something there waits until its place is known. */
export function lockDefaultSql(defaultPartition: string): string {
  return `lock table only ${defaultPartition} in access exclusive mode`;
}

/**
 * Lets events be stored in the log and read from it meanwhile, except in the default partition, which is read as a whole
 * to see that it has none of these.
 */
export function attachPartitionSql(names: OutboxNames, partition: string, fromId: string, toId: string): string {
  return `alter table ${names.event} attach partition ${partition} for values from (${literal(fromId)}) to (${literal(toId)})`;
}

/** In the order in which every other statement takes them, so that nobody waits for us while we wait for them. */
export function lockPartitionSql(names: OutboxNames, partition: string): string {
  return `lock table only ${names.event}, only ${partition} in access exclusive mode`;
}

/** Needs the locks of `lockPartitionSql`. */
export function dropPartitionSql(partition: string): string {
  return `drop table ${partition}`;
}
