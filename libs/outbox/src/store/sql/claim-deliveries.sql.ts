import { withFailedAttempt } from '../attempt-history.js';
import type { OutboxNames } from '../table-names.js';

/** Stored as `last_error` of a delivery whose process died (or hung) in its last attempt. */
export const REAPED_ERROR = 'the lease of the last attempt ended without an outcome (process died or hung)';

/**
 * Takes due deliveries of one destination: unordered ones, and those of one free lane. Each gets the token, the lease
 * and one more attempt; those whose last attempt ended without an outcome become dead letters instead.
 *
 * $1 destination, $2 owner, $3 lease in ms, $4 most deliveries and $6 most bytes of each kind, $5 attempts until dead,
 * $7 null, or the time in µs since 1970 from which unordered deliveries are looked for: left of it the index holds what
 * is finished and not vacuumed yet, and what was late; the caller looks there too, now and then. $8 whether the commit
 * need not wait for the disk: a claim that a crash of the server undoes was no claim. The crash sets the sequence back as
 * well; so the lower bits of a token are random, and what its holder writes later meets no other's (docs/decisions/0008).
 *
 * Rides `…_unordered` (destination, available_at, id) and `…_lane` (destination, lane, id); `…_holding` tells the keys
 * that a waiting or dead event holds. Locks the rows taken, unordered ones with `skip locked`. One row without an `id`:
 * nothing is due, or, if `contended`, another dispatcher was just then changing the lanes that are due, or, if not
 * `open`, the destination could not be reached and is left alone for `resumeMs`, or somebody has paused it (`isPaused`). When that time is over, one claim of
 * all dispatchers becomes the `probe` and takes a single delivery; the others wait for its outcome. What concerns the
 * claim as a whole is said once, as JSON in the last column of one row.
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
  return `with token as materialized (
  select (nextval('${names.token.replaceAll("'", "''")}') << 20) | floor(random() * 1048576)::bigint as value,
    case when $8 then set_config('synchronous_commit', 'off', true) end as commit
), probe as (
  update ${destination} set resume_at = now() + $3 * interval '1 millisecond'
  where destination = $1 and failures > 0 and resume_at <= now() and paused_at is null
  returning destination
), gate as materialized (
  select exists (select from probe) as is_probe, (t.failures = 0 or exists (select from probe)) and t.paused_at is null as is_open,
    t.paused_at is not null as is_paused, extract(epoch from t.resume_at - now()) * 1000 as resume_ms,
    (select d.id from ${delivery} d where d.destination = $1 and d.lane >= 0 and d.status = 0
      order by d.lane, d.id limit 1) is not null as has_ordered
  from ${destination} t where t.destination = $1
), held_key as materialized (
  select h.ordering_key from ${delivery} h
  where h.destination = $1 and h.holds_key and (h.status = 1 or h.available_at > now())
), due_lane as materialized (
  select l.lane, l.revision from ${lane} l
  where (select is_open and has_ordered from gate) and l.destination = $1 and ${free}
    and (${dueInLane(names, 'l.lane', 'd.id', '1')}) is not null
), free_lane as materialized (
  select l.lane from ${lane} l
  where exists (select from due_lane) and l.destination = $1 and ${free}
    and l.revision = (select s.revision from due_lane s where s.lane = l.lane)
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
  select d.id, d.payload_bytes, d.available_at from ${delivery} d
  where (select is_open from gate) and d.destination = $1 and d.lane is null and d.status = 0 and d.available_at <= now()
    and d.available_at >= coalesce('epoch'::timestamptz + $7::float8 * interval '1 microsecond', '-infinity')
    and (d.lease_until is null or d.lease_until < now())
  order by d.available_at, d.id limit $4
  for update skip locked
), taken as materialized (
  select id, is_ordered, available_at from (
    select id, is_ordered, available_at,
      sum(payload_bytes) over (partition by is_ordered order by available_at, id) - payload_bytes as bytes_before
    from (select id, payload_bytes, null::timestamptz as available_at, true as is_ordered from ordered
          where id not in (select id from held_back)
          union all select id, payload_bytes, available_at, false from unordered) p
  ) t where bytes_before < $6::bigint
  order by is_ordered, available_at, id
  limit case when (select is_probe from gate) then 1 end
), leased_lane as (
  update ${lane} l
  set lease_owner = $2, lease_until = now() + $3 * interval '1 millisecond', lease_version = (select value from token),
    revision = l.revision + 1, claimed_at = now()
  where l.destination = $1 and l.lane = (select lane from free_lane) and exists (select from taken where is_ordered)
  returning l.lane
), claimed as materialized (
  update ${delivery} d
  set status = case when ${spent} then 1 else 0 end,
    holds_key = case when ${spent} then d.ordering_key is not null else d.holds_key end,
    attempts = case when ${spent} then d.attempts else d.attempts + 1 end,
    lease_owner = case when ${spent} then null else $2 end,
    lease_until = case when ${spent} then null else now() + $3 * interval '1 millisecond' end,
    lease_version = case when ${spent} then d.lease_version else (select value from token) end,
    last_error = case when ${spent} then '${REAPED_ERROR}' else d.last_error end,
    history = case when d.lease_until is not null then ${withFailedAttempt(`'${REAPED_ERROR}'`)} else d.history end
  where d.id = any (array(select id from taken))
  returning d.id, d.event_id, d.status, d.ordering_key, d.attempts, d.redrives, d.created_at
)
select c.id, c.event_id, c.status, c.ordering_key, c.attempts, c.redrives, date_part('epoch', now() - c.created_at) * 1000 as age_ms,
  e.id as logged_id, e.type, e.aggregatetype, e.aggregateid, e.payload, e.headers, e.version, e.sequence,
  date_part('epoch', e.created_at) * 1000 as created_ms,
  case when c.id is null or c.id = (select min(id) from claimed) then json_build_object(
    'token', (select value from token)::text, 'lane', (select lane from leased_lane),
    'contended', c.id is null and exists (select from due_lane),
    'probe', g.is_probe, 'open', g.is_open, 'isPaused', g.is_paused, 'resumeMs', g.resume_ms,
    'lastUs', (select extract(epoch from max(t.available_at)) * 1000000 from taken t
      where (select count(*) from unordered) >= $4 or exists (select from unordered u where u.id not in (select id from taken))),
    'nextDueMs', case when c.id is null then (select extract(epoch from min(w.available_at) - now()) * 1000 from (${waiting(names)}) w) end) end as facts
from (select) as always
left join gate g on true
left join claimed c on true
left join ${names.event} e on e.id = c.event_id`;
}

/** The first times at which something that waits is due: of unordered deliveries one, of ordered ones those that hold a key. */
function waiting({ delivery }: OutboxNames): string {
  return `(select d.available_at from ${delivery} d
      where d.destination = $1 and d.lane is null and d.status = 0 and d.available_at > now() order by d.available_at limit 1)
    union all select h.available_at from ${delivery} h
      where h.destination = $1 and h.holds_key and h.status = 0 and h.available_at > now()`;
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
