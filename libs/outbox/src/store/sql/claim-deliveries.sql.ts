import type { OutboxNames } from '../table-names.js';

/** Stored as `last_error` of a delivery whose process died (or hung) in its last attempt. */
export const REAPED_ERROR = 'the lease of the last attempt ended without an outcome (process died or hung)';

/**
 * Takes due deliveries of one destination: unordered ones, and those of one free lane. Each gets the token, the lease
 * and one more attempt; those whose last attempt ended without an outcome become dead letters instead.
 *
 * $1 destination, $2 owner, $3 lease in ms, $4 most deliveries and $6 most bytes of each kind, $5 attempts until dead.
 *
 * Rides `…_unordered` (destination, available_at, id) and `…_lane` (destination, lane, id); `…_holding` tells the keys
 * that a waiting or dead event holds. Locks the rows taken, unordered ones with `skip locked`. One row without an `id`:
 * nothing is due, or, if `is_contended`, another dispatcher was just then changing the lanes that are due, or, if not
 * `is_open`, the destination could not be reached and is left alone for `resume_ms`. When that time is over, one claim
 * of all dispatchers becomes the probe (`is_probe`) and takes a single delivery; the others wait for its outcome.
 *
 * Ordered deliveries are safe in one statement because a lane is taken only if its row is the one that this
 * statement's snapshot saw (`revision`): whoever changed deliveries of the lane since has changed its row too. A row of
 * a leased lane is never skipped when locked, because its followers would overtake it. The followers of one that becomes
 * a dead letter here stay where they are. An ordered delivery that was never rescheduled is due whatever its time says:
 * when the clock goes back (a failover, a step of NTP), one that is written then must not overtake it.
 */
export function claimDeliveriesSql(names: OutboxNames): string {
  const { delivery, lane, destination } = names;
  const free = '(l.lease_until is null or l.lease_until < now())';
  const spent = 'd.lease_until is not null and d.attempts >= $5';
  const open = '(select is_open from gate)';
  return `with token as materialized (
  select nextval('${names.token.replaceAll("'", "''")}') as value
), probe as (
  update ${destination} set resume_at = now() + $3 * interval '1 millisecond'
  where destination = $1 and failures > 0 and resume_at <= now()
  returning destination
), gate as materialized (
  select exists (select from probe) as is_probe, t.failures = 0 or exists (select from probe) as is_open,
    (extract(epoch from t.resume_at - now()) * 1000)::float8 as resume_ms
  from ${destination} t where t.destination = $1
), held_key as materialized (
  select h.ordering_key from ${delivery} h
  where h.destination = $1 and h.holds_key and (h.status = 1 or h.available_at > now())
), due_lane as materialized (
  select l.lane, l.revision from ${lane} l
  where ${open} and l.destination = $1 and ${free} and (${dueInLane(names, 'l.lane', 'd.id', '1')}) is not null
), free_lane as materialized (
  select l.lane from ${lane} l
  where l.destination = $1 and ${free} and l.revision = (select s.revision from due_lane s where s.lane = l.lane)
  order by l.claimed_at limit 1
  for update skip locked
), ordered as materialized (
  ${dueInLane(names, '(select lane from free_lane)', `d.id, d.payload_bytes, d.ordering_key, ${spent} as is_spent`, '$4')}
  for update
), held_back as materialized (
  select o.id from ordered o
  join (select ordering_key, min(id) as id from ordered where is_spent group by ordering_key) s
    on s.ordering_key = o.ordering_key and s.id < o.id
), unordered as materialized (
  select d.id, d.payload_bytes from ${delivery} d
  where ${open} and d.destination = $1 and d.lane is null and d.status = 0 and d.available_at <= now()
    and (d.lease_until is null or d.lease_until < now())
  order by d.available_at, d.id limit $4
  for update skip locked
), taken as materialized (
  select t.id, t.is_ordered from (
    select p.id, p.is_ordered, row_number() over (order by p.is_ordered, p.id) as place,
      sum(p.payload_bytes) over (partition by p.is_ordered order by p.id) - p.payload_bytes as bytes_before
    from (select id, payload_bytes, true as is_ordered from ordered where id not in (select id from held_back)
          union all select id, payload_bytes, false from unordered) p
  ) t where t.bytes_before < $6::bigint and (t.place = 1 or not (select is_probe from gate))
), leased_lane as (
  update ${lane} l
  set lease_owner = $2, lease_until = now() + $3 * interval '1 millisecond', lease_version = (select value from token),
    revision = l.revision + 1, claimed_at = now()
  where l.destination = $1 and l.lane = (select lane from free_lane) and exists (select from taken where is_ordered)
  returning l.lane
), claimed as (
  update ${delivery} d
  set status = case when ${spent} then 1 else 0 end,
    holds_key = case when ${spent} then d.ordering_key is not null else d.holds_key end,
    attempts = case when ${spent} then d.attempts else d.attempts + 1 end,
    lease_owner = case when ${spent} then null else $2 end,
    lease_until = case when ${spent} then null else now() + $3 * interval '1 millisecond' end,
    lease_version = case when ${spent} then d.lease_version else (select value from token) end,
    last_error = case when ${spent} then '${REAPED_ERROR}' else d.last_error end
  where d.id = any (array(select id from taken))
  returning d.id, d.event_id, d.status, d.ordering_key, d.attempts, d.created_at
)
select c.id::text, c.event_id, c.status = 1 as is_reaped, c.ordering_key::text, c.attempts,
  (extract(epoch from clock_timestamp() - c.created_at) * 1000)::float8 as age_ms,
  (select value from token)::text as token, (select lane from leased_lane) as lane,
  e.id is not null as is_logged, e.type, e.aggregatetype, e.aggregateid, e.payload::text, e.headers::text, e.version,
  e.sequence::text, e.created_at,
  c.id is null and exists (select from due_lane) as is_contended, g.is_probe, g.is_open, g.resume_ms
from (select) as always
left join gate g on true
left join claimed c on true
left join ${names.event} e on e.id = c.event_id
order by c.id`;
}

/**
 * Due deliveries of a lane, first ones first. Written so that it stays a walk along `…_lane` from its left end, whatever
 * the statistics say: a subquery with a limit is not turned into a join over the whole backlog; a range of one lane and
 * its order ride no other index; the held keys, of all lanes, are hashed once.
 */
function dueInLane(names: OutboxNames, lane: string, columns: string, limit: string): string {
  return `select ${columns} from ${names.delivery} d
  where d.destination = $1 and d.lane >= ${lane} and d.lane <= ${lane} and d.status = 0
    and (d.available_at <= now() or not d.holds_key)
    and d.ordering_key not in (select ordering_key from held_key)
  order by d.lane, d.id limit ${limit}`;
}
