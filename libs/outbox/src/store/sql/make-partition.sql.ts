import { literal } from '../migrations/schema-dialect.js';
import type { OutboxNames } from '../table-names.js';

/** How many events with ids from $1 up to $2 the default partition has, counted up to $3. Rides its primary key. */
export function countInDefaultSql(defaultPartition: string): string {
  return `select count(*)::int as present
from (select from ${defaultPartition} where id >= $1 and id < $2 limit $3) as found`;
}

/** A table like the log, on its own: making it a partition afterwards lets events be stored meanwhile. */
export function createPartitionSql(names: OutboxNames, partition: string): string {
  return `create table ${partition} (like ${names.event} including all)`;
}

/** Whoever is about to store something there waits until its place is known. */
export function lockDefaultSql(defaultPartition: string): string {
  return `lock table only ${defaultPartition} in access exclusive mode`;
}

/** Moves the events with ids from $1 up to $2 out of the default partition. Answers one row, `moved`. */
export function moveFromDefaultSql(defaultPartition: string, partition: string): string {
  return `with taken as (
  delete from ${defaultPartition} where id >= $1 and id < $2 returning *
), moved as (
  insert into ${partition} select * from taken returning 1
)
select count(*)::int as moved from moved`;
}

/**
 * Lets events be stored in the log and read from it meanwhile, except in the default partition, which is read as a whole
 * to see that it has none of these.
 */
export function attachPartitionSql(names: OutboxNames, partition: string, fromId: string, toId: string): string {
  return `alter table ${names.event} attach partition ${partition} for values from (${literal(fromId)}) to (${literal(toId)})`;
}

/** Statements that give $2 the owner of $1; zero rows when it has. */
export const TAKE_OVER_OWNER_SQL = `select format('alter table %s owner to %I', $2::text, o.rolname) as statement
from pg_class l join pg_roles o on o.oid = l.relowner
where l.oid = to_regclass($1) and l.relowner <> (select relowner from pg_class where oid = to_regclass($2::text))`;
