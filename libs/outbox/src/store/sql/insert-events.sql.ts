import type { OutboxNames } from '../table-names.js';

/** Lanes of each destination; a power of two. Part of the stored data: changing it needs a migration. */
export const LANES = 32;

/**
 * $1 is the list of events as one JSON text (event-rows.ts), because a set of arrays costs three times as much to take
 * apart for a single event, and because with one parameter PostgreSQL plans a prepared statement once.
 * $2 is null, or the id of the transaction that the events are meant for: in another one there are none.
 * JSON's null is a payload like any other, while `json_to_recordset` makes no value of it.
 */
const INPUT = `select place, id, aggregatetype, aggregateid, type, coalesce(payload, 'null') as payload, headers, version,
    ordering_key, adds, behind, payload_bytes, destinations
  from json_to_recordset($1::json) as t(place int, id uuid, aggregatetype text, aggregateid text, type text, payload jsonb,
    headers jsonb, version int, ordering_key bigint, adds int, behind int, payload_bytes int, destinations text[])
  where $2::xid8 is null or pg_current_xact_id_if_assigned() = $2::xid8`;

/** Either all events of the list are stored or none; `backend_pid` is for PreparedSession. */
const ANSWER = 'select count(*)::int as stored, pg_backend_pid() as backend_pid from input';

/**
 * Writes unordered events and a delivery for each destination. Locks nothing that exists.
 *
 * Answers one row, `stored`: how many events were written, either all or none.
 */
export function insertUnorderedEventsSql(names: OutboxNames): string {
  return `with input as materialized (
  ${INPUT}
), stored as (
  insert into ${names.event} (id, aggregatetype, aggregateid, type, payload, headers, version, destinations)
  select i.id, i.aggregatetype, i.aggregateid, i.type, i.payload, i.headers, i.version, i.destinations
  from input i
), queued as (
  insert into ${names.delivery} (event_id, destination, payload_bytes)
  select i.id, d.destination, i.payload_bytes
  from input i cross join lateral unnest(i.destinations) as d(destination)
)
${ANSWER}`;
}

/**
 * As above, for a list with ordered events among others. Upserts the counter row of each ordered aggregate, in key
 * order, and holds it to the end of the transaction: a second writer of the aggregate waits here, so sequence numbers
 * and delivery ids follow the order of commit. The last event of an aggregate in the list says how many it `adds`, and
 * each one how many are `behind` it. The deliveries join the counters on purpose: their ids must not be drawn before
 * the counter is locked.
 */
export function insertOrderedEventsSql(names: OutboxNames): string {
  return `with input as materialized (
  ${INPUT}
), counted as materialized (
  insert into ${names.aggregate} as a (aggregatetype, aggregateid, sequence)
  select i.aggregatetype, i.aggregateid, i.adds
  from input i where i.adds is not null
  order by i.aggregatetype, i.aggregateid
  on conflict (aggregatetype, aggregateid) do update set sequence = a.sequence + excluded.sequence
  returning a.aggregatetype, a.aggregateid, a.sequence
), numbered as materialized (
  select i.*, c.sequence - i.behind as sequence
  from input i
  left join counted c on i.ordering_key is not null and c.aggregatetype = i.aggregatetype and c.aggregateid = i.aggregateid
  order by i.place
), stored as (
  insert into ${names.event} (id, aggregatetype, aggregateid, type, payload, headers, version, sequence, destinations)
  select n.id, n.aggregatetype, n.aggregateid, n.type, n.payload, n.headers, n.version, n.sequence, n.destinations
  from numbered n
), queued as (
  insert into ${names.delivery} (event_id, destination, ordering_key, lane, payload_bytes)
  select n.id, d.destination, n.ordering_key, n.ordering_key & ${LANES - 1}, n.payload_bytes
  from numbered n cross join lateral unnest(n.destinations) as d(destination)
  order by n.place
)
${ANSWER}`;
}
