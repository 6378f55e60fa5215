import type { OutboxNames } from '../table-names.js';

/**
 * Who holds a lock on the log $1 or its partition $2 in a transaction that began more than $3 ms ago: to queue behind
 * them for a lock that shuts out everybody would make everybody else wait as well. Zero rows: nobody that may be seen.
 */
export const LONG_HOLDER_SQL = `select a.pid, coalesce(nullif(a.application_name, ''), 'unnamed') as application
from pg_locks l join pg_stat_activity a on a.pid = l.pid
where l.database = (select oid from pg_database where datname = current_database())
  and l.relation in (to_regclass($1), to_regclass($2)) and l.granted and a.pid <> pg_backend_pid()
  and a.xact_start < clock_timestamp() - $3 * interval '1 millisecond'
order by a.xact_start limit 1`;

/** In the order in which every other statement takes them, so that nobody waits for us while we wait for them. */
export function lockPartitionSql(names: OutboxNames, partition: string): string {
  return `lock table only ${names.event}, only ${partition} in access exclusive mode`;
}

/**
 * Whether something of the events with ids from $1 up to $2 has to stay for $3 ms. To be asked under the lock: whoever
 * was about to write a delivery of such an event has done so by then, or must wait and will not find the event.
 */
export function mustPartitionStaySql(names: OutboxNames, partition: string): string {
  return `select exists (select from ${names.delivery} d where d.event_id >= $1 and d.event_id < $2)
  or exists (select from ${partition} e where e.created_at >= clock_timestamp() - $3 * interval '1 millisecond') as must_stay`;
}

/** Needs the locks of `lockPartitionSql`. */
export function dropPartitionSql(partition: string): string {
  return `drop table ${partition}`;
}
