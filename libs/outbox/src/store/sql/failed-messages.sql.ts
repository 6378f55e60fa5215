import type { InboxNames } from '../table-names.js';

/** Counts a failure. $1 consumer, $2 message id, $3 event type or null, $4 error. One row, `attempts`. Locks that row. */
export function countFailureSql({ failed }: InboxNames): string {
  return `insert into ${failed} as f (consumer_name, message_id, event_type, last_error) values ($1, $2, $3, $4)
on conflict (consumer_name, message_id) do update
set attempts = f.attempts + 1, last_error = excluded.last_error, failed_at = excluded.failed_at
returning attempts`;
}

const PARKED_COLUMNS =
  'id, consumer_name, message_id, event_type, attempts, last_error, parked_at, source, content_type, headers, body';
const PARKED = `parked_at is not null and ($1::text is null or consumer_name = $1) and ($2::bigint[] is null or id = any ($2::bigint[]))`;

/** The same on SQLite: ?1 the consumer or null, ?2 the ids as a JSON list, or null. */
const PARKED_ON_SQLITE =
  'parked_at is not null and (?1 is null or consumer_name = ?1) and (?2 is null or id in (select value from json_each(?2)))';

/** Parks a message. $1 to $4 as above, $5 source, $6 content type, $7 headers as JSON, $8 body. Locks that row. */
export function parkMessageSql(names: InboxNames): string {
  return parking(names, 'clock_timestamp()');
}

export function parkMessageOnSqliteSql(names: InboxNames): string {
  return parking(names, "strftime('%Y-%m-%dT%H:%M:%fZ', 'now')");
}

function parking({ failed }: InboxNames, now: string): string {
  return `insert into ${failed} as f
  (consumer_name, message_id, event_type, last_error, source, content_type, headers, body, parked_at)
values ($1, $2, $3, $4, $5, $6, $7, $8, ${now})
on conflict (consumer_name, message_id) do update
set last_error = excluded.last_error, failed_at = excluded.failed_at, source = excluded.source,
  content_type = excluded.content_type, headers = excluded.headers, body = excluded.body, parked_at = excluded.parked_at`;
}

/** Parked messages, oldest first. $1 consumer or null for all, $2 ids or null for all, $3 most rows. Locks nothing. */
export function listParkedSql({ failed }: InboxNames): string {
  return `select ${PARKED_COLUMNS} from ${failed} where ${PARKED} order by id limit $3`;
}

export function listParkedOnSqliteSql({ failed }: InboxNames): string {
  return `select ${PARKED_COLUMNS} from ${failed} where ${PARKED_ON_SQLITE} order by id limit ?3`;
}

/** Removes parked messages, selected as above; a row for each. Locks them. */
export function removeParkedSql({ failed }: InboxNames): string {
  return `with removed as (delete from ${failed} where ${PARKED} returning 1 as removed) select removed from removed`;
}

export function removeParkedOnSqliteSql({ failed }: InboxNames): string {
  return `delete from ${failed} where ${PARKED_ON_SQLITE} returning 1 as removed`;
}

/** Forgets at most $2 failures that were not parked and are older than $1 ms; a row for each. */
export function pruneFailuresSql({ failed }: InboxNames): string {
  return `with old as (
  select id from ${failed} where parked_at is null and failed_at < now() - $1 * interval '1 millisecond'
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
