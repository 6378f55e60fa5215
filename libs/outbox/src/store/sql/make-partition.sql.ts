import type { OutboxNames } from '../table-names.js';

/** How many events with ids from $1 up to $2 the default partition has, counted up to $3. Rides its primary key. */
export function countInDefaultSql(names: OutboxNames, defaultPartition = names.event): string {
  return `select count(*)::int as present
from (select from ${defaultPartition} where id >= $1 and id < $2 limit $3) as found`;
}

/** Moves the events with ids from $1 up to $2 out of the default partition. Answers one row, `moved`. */
export function moveFromDefaultSql(
  names: OutboxNames,
  defaultPartition = names.event,
  partition = names.event,
): string {
  return `with taken as (
  delete from ${defaultPartition} where id >= $1 and id < $2 returning *
), moved as (
  insert into ${partition} select * from taken returning 1
)
select count(*)::int as moved from moved`;
}

/** Statements that give $2 the owner of $1; zero rows when it has. */
export const TAKE_OVER_OWNER_SQL = `select format('alter table %s owner to %I', $2::text, o.rolname) as statement
from pg_class l join pg_roles o on o.oid = l.relowner
where l.oid = to_regclass($1) and l.relowner <> (select relowner from pg_class where oid = to_regclass($2::text))`;
