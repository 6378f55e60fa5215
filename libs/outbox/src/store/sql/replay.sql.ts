import { withRedrive } from '../attempt-history.js';
import type { OutboxNames } from '../table-names.js';

/**
 * Each null for all: $1 destination, $2 event ids, $3 event type, $4 aggregate type, $5 aggregate id, $6 emitted before,
 * $7 emitted after. What is on its way to a destination, or dead there, was not delivered.
 */
function delivered(names: OutboxNames): string {
  return `from ${names.event} e cross join lateral unnest(e.destinations) as t(destination)
where ($1::text is null or t.destination = $1) and ($2::uuid[] is null or e.id = any ($2::uuid[]))
  and ($3::text is null or e.type = $3) and ($4::text is null or e.aggregatetype = $4)
  and ($5::text is null or e.aggregateid = $5)
  and ($6::timestamptz is null or e.created_at < $6) and ($7::timestamptz is null or e.created_at >= $7)
  and not exists (select from ${names.delivery} d
    where d.event_id = e.id and d.destination = t.destination and d.status <> 2)`;
}

/** How many deliveries a replay would make. Locks nothing; reads the log, by its times where $6 or $7 is given. */
export function previewReplaySql(names: OutboxNames): string {
  return `select t.destination, count(*)::int as count, min(e.created_at) as oldest, max(e.created_at) as newest
${delivered(names)}
group by t.destination order by t.destination`;
}

/** The deliveries that a replay makes, at most $8, in the order in which the events were written. Locks nothing. */
export function selectReplayedSql(names: OutboxNames): string {
  return `select e.id, t.destination, e.aggregatetype, e.aggregateid, e.sequence is not null as is_ordered
${delivered(names)}
order by e.created_at, e.sequence, e.id limit $8`;
}

/** Writes down who replays and why; `affected` grows with what is queued. Answers `id`. */
export function beginReplaySql(names: OutboxNames): string {
  return `insert into ${names.operation} (actor, action, reason, details, affected) values ($1, 'replay', $2, $3, 0) returning id`;
}

/**
 * Queues events again: $1 event ids, $2 destinations, $3 ordering keys or null, $4 lanes or null, $5 operation, $6 by whom.
 * A kept delivery becomes that one again, under no token: who finished it once must not finish it twice. Locks the kept and
 * archived deliveries. Answers `queued`; less than asked for when an event has gone, or is on its way again, since it was selected.
 */
export function queueReplayedSql(names: OutboxNames): string {
  return `with asked as materialized (
  select a.*, coalesce(octet_length(e.payload::text), 0) as payload_bytes
  from unnest($1::uuid[], $2::text[], $3::bigint[], $4::smallint[]) with ordinality
    as a(event_id, destination, ordering_key, lane, place)
  join ${names.event} e on e.id = a.event_id
), unarchived as (
  delete from ${names.archive} r using asked a where r.event_id = a.event_id and r.destination = a.destination
), queued as (
  insert into ${names.delivery} as d (event_id, destination, ordering_key, lane, payload_bytes, redrives, history)
  select a.event_id, a.destination, a.ordering_key, a.lane, a.payload_bytes, $5::int,
    jsonb_build_array(jsonb_build_object('at', clock_timestamp(), 'redrivenBy', $6::text))
  from asked a order by a.place
  on conflict (event_id, destination) do update
  set status = 0, attempts = 0, redrives = excluded.redrives, available_at = excluded.available_at,
    created_at = excluded.created_at, done_at = null, lease_owner = null, lease_until = null, lease_version = 0,
    last_error = null, history = ${withRedrive('$6::text')}
  where d.status = 2
  returning 1
), counted as (
  update ${names.operation} set affected = affected + (select count(*) from queued) where id = $5
)
select count(*)::int as queued from queued`;
}
