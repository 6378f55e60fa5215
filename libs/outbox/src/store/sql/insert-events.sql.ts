import type { OutboxNames } from '../table-names.js';

/** Lanes of each destination; a power of two. Part of the stored data: changing it needs a migration. */
export const LANES = 32;

/** Columns of the input arrays, in the order of the parameters $1 to $10. */
const INPUT = `select *
  from unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::int[], $8::bigint[], $9::int[], $10::text[])
    with ordinality as t(id, aggregatetype, aggregateid, type, payload, headers, version, ordering_key, payload_bytes, destinations, place)
  where $11::xid8 is null or pg_current_xact_id_if_assigned() = $11::xid8`;

/**
 * Writes unordered events and a delivery for each destination. Locks nothing that exists.
 *
 * $11 is null, or the id of the transaction that the events are meant for: in another one nothing is written.
 * Answers one row, `stored`: how many events were written, either all or none.
 */
export function insertUnorderedEventsSql(names: OutboxNames): string {
  return `with input as materialized (
  ${INPUT}
), stored as (
  insert into ${names.event} (id, aggregatetype, aggregateid, type, payload, headers, version, destinations)
  select i.id, i.aggregatetype, i.aggregateid, i.type, i.payload::jsonb, i.headers::jsonb, i.version,
    array(select jsonb_array_elements_text(i.destinations::jsonb))
  from input i order by i.place
  returning id
), queued as (
  insert into ${names.delivery} (event_id, destination, payload_bytes)
  select i.id, d.destination, i.payload_bytes
  from input i cross join lateral jsonb_array_elements_text(i.destinations::jsonb) as d(destination)
  order by i.place
)
select count(*)::int as stored from stored`;
}

/**
 * As above, for a list with ordered events among others. Upserts the counter row of each ordered aggregate, in key
 * order, and holds it to the end of the transaction: a second writer of the aggregate waits here, so sequence numbers
 * and delivery ids follow the order of commit. The deliveries join the counters on purpose: their ids must not be drawn
 * before the counter is locked.
 */
export function insertOrderedEventsSql(names: OutboxNames): string {
  return `with input as materialized (
  ${INPUT}
), counted as materialized (
  insert into ${names.aggregate} as a (aggregatetype, aggregateid, sequence)
  select i.aggregatetype, i.aggregateid, count(*)
  from input i where i.ordering_key is not null
  group by i.aggregatetype, i.aggregateid
  order by i.aggregatetype, i.aggregateid
  on conflict (aggregatetype, aggregateid) do update set sequence = a.sequence + excluded.sequence
  returning a.aggregatetype, a.aggregateid, a.sequence
), numbered as materialized (
  select i.*,
    c.sequence - count(*) over (partition by i.aggregatetype, i.aggregateid, i.ordering_key is null)
      + row_number() over (partition by i.aggregatetype, i.aggregateid, i.ordering_key is null order by i.place) as sequence
  from input i
  left join counted c on i.ordering_key is not null and c.aggregatetype = i.aggregatetype and c.aggregateid = i.aggregateid
), stored as (
  insert into ${names.event} (id, aggregatetype, aggregateid, type, payload, headers, version, sequence, destinations)
  select n.id, n.aggregatetype, n.aggregateid, n.type, n.payload::jsonb, n.headers::jsonb, n.version, n.sequence,
    array(select jsonb_array_elements_text(n.destinations::jsonb))
  from numbered n order by n.place
  returning id
), queued as (
  insert into ${names.delivery} (event_id, destination, ordering_key, lane, payload_bytes)
  select n.id, d.destination, n.ordering_key, n.ordering_key & ${LANES - 1}, n.payload_bytes
  from numbered n cross join lateral jsonb_array_elements_text(n.destinations::jsonb) as d(destination)
  order by n.place
)
select count(*)::int as stored from stored`;
}
