import type { InboxNames } from '../table-names.js';

/**
 * Removes at most $2 records that were written more than $1 ms ago, by the database's clock; a row for each. Rides the
 * index on processed_at (which clock_timestamp() could not) and skips what another process is removing.
 */
export function pruneProcessedEventsSql(names: InboxNames): string {
  return `with old as (
  select p.consumer_name, p.event_id from ${names.processed} p
  where p.processed_at < now() - $1 * interval '1 millisecond'
  order by p.processed_at limit $2 for update skip locked
), pruned as (
  delete from ${names.processed} p using old
  where p.consumer_name = old.consumer_name and p.event_id = old.event_id
  returning 1 as pruned
)
select pruned from pruned`;
}

/** The same on SQLite: ?1 the age as a time modifier, ?2 the most records. */
export function pruneProcessedEventsOnSqliteSql(names: InboxNames): string {
  return `delete from ${names.processed} where (consumer_name, event_id) in (
  select consumer_name, event_id from ${names.processed}
  where processed_at < strftime('%Y-%m-%dT%H:%M:%fZ', 'now', ?) order by processed_at limit ?)
returning 1 as pruned`;
}
