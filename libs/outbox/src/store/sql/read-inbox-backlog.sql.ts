import type { InboxNames } from '../table-names.js';

/**
 * For each consumer: how much it processed within the last $1 ms, what failed and is tried again, what is parked. Rides the
 * index on processed_at, and reads all failed messages. Locks nothing.
 */
export function readInboxBacklogSql(names: InboxNames): string {
  return perConsumer(names, "statement_timestamp() - $1 * interval '1 millisecond'");
}

/** The same on SQLite: ?1 the window as a time modifier. */
export function readInboxBacklogOnSqliteSql(names: InboxNames): string {
  return perConsumer(names, "strftime('%Y-%m-%dT%H:%M:%fZ', 'now', ?)");
}

function perConsumer({ processed, failed }: InboxNames, since: string): string {
  return `select consumer_name, sum(processed) as processed, sum(failing) as failing, sum(parked) as parked from (
  select consumer_name, count(*) as processed, 0 as failing, 0 as parked
  from ${processed} where processed_at >= ${since} group by consumer_name
  union all
  select consumer_name, 0, sum(case when parked_at is null then 1 else 0 end), sum(case when parked_at is null then 0 else 1 end)
  from ${failed} group by consumer_name
) figures
group by consumer_name order by consumer_name`;
}
