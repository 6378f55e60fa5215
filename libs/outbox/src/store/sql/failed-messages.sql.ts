import type { InboxNames } from '../table-names.js';

/** Counts a failure. $1 consumer, $2 message id, $3 event type or null, $4 error. One row, `attempts`. Locks that row. */
export function countFailureSql({ failed }: InboxNames): string {
  return `insert into ${failed} as f (consumer_name, message_id, event_type, last_error) values ($1, $2, $3, $4)
on conflict (consumer_name, message_id) do update
set attempts = f.attempts + 1, last_error = excluded.last_error, failed_at = excluded.failed_at
returning attempts`;
}

/** Parks a message. $1 to $4 as above, $5 source, $6 content type, $7 headers as JSON, $8 body. Locks that row. */
export function parkMessageSql({ failed }: InboxNames, now: string): string {
  return `insert into ${failed} as f
  (consumer_name, message_id, event_type, last_error, source, content_type, headers, body, parked_at)
values ($1, $2, $3, $4, $5, $6, $7, $8, ${now})
on conflict (consumer_name, message_id) do update
set last_error = excluded.last_error, failed_at = excluded.failed_at, source = excluded.source,
  content_type = excluded.content_type, headers = excluded.headers, body = excluded.body, parked_at = excluded.parked_at`;
}

/** Parked messages, oldest first. `where` selects among them; the last parameter is how many at most. Locks nothing. */
export function listParkedSql({ failed }: InboxNames, where: string, limit: string): string {
  return `select id, consumer_name, message_id, event_type, attempts, last_error, parked_at, source, content_type, headers, body
from ${failed} where parked_at is not null and ${where} order by id limit ${limit}`;
}

/** Removes parked messages; a row for each. Locks them. */
export function removeParkedSql({ failed }: InboxNames, where: string): string {
  return `delete from ${failed} where parked_at is not null and ${where} returning 1 as removed`;
}

/** Forgets at most $2 failures that were not parked and are older than $1 ms; a row for each. */
export function pruneFailuresSql({ failed }: InboxNames): string {
  return `with old as (
  select id from ${failed} where parked_at is null and failed_at < clock_timestamp() - $1 * interval '1 millisecond'
  order by failed_at limit $2 for update skip locked
), pruned as (
  delete from ${failed} f using old where f.id = old.id returning 1 as pruned
)
select pruned from pruned`;
}

/** The same on SQLite: ?1 the age as a time modifier, ?2 the most rows. */
export function pruneFailuresOnSqliteSql({ failed }: InboxNames): string {
  return `delete from ${failed} where id in (
  select id from ${failed} where parked_at is null and failed_at < strftime('%Y-%m-%dT%H:%M:%fZ', 'now', ?)
  order by failed_at limit ?) returning 1 as pruned`;
}
