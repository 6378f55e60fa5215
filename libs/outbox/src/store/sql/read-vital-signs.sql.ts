import type { OutboxNames } from '../table-names.js';
import { LANES } from './insert-events.sql.js';

/** Dead letters are counted up to here. */
export const MOST_DEAD_COUNTED = 1000;

/**
 * Of the destinations $1, and of those that dispatchers have served: since when there is work that a dispatcher could take, how
 * old the oldest work is, when something was last delivered, and whether it can be reached. Looks at the first entries of indexes
 * only, however long the queue is: `…_unordered`, `…_lane` for each lane, `…_holding` and `…_dead`. Locks nothing.
 *
 * The oldest is that of the first one in each index, so one that has been tried may be older.
 */
export function readVitalSignsSql(names: OutboxNames): string {
  const { delivery } = names;
  const first = `(select d.available_at, d.created_at from ${delivery} d
    where d.destination = n.destination and d.lane is null and d.status = 0 order by d.available_at, d.id limit 1)`;
  const firstOfLane = `(select d.available_at, d.created_at from ${delivery} d
      where d.destination = n.destination and d.lane = l.lane and d.status = 0 order by d.lane, d.id limit 1)`;
  const firstFree = `(select d.available_at from ${delivery} d
      where d.destination = n.destination and d.lane = l.lane and d.status = 0
        and (d.available_at <= now() or not d.holds_key)
        and d.ordering_key not in (select h.ordering_key from ${delivery} h
          where h.destination = n.destination and h.holds_key and (h.status = 1 or h.available_at > now()))
      order by d.lane, d.id limit 1)`;
  return `with named as (
  select unnest($1::text[]) as destination union select destination from ${names.destination}
)
select n.destination,
  coalesce(t.failures, 0) as failures, t.last_error, t.paused_at is not null as is_paused,
  (extract(epoch from clock_timestamp() - t.progressed_at) * 1000)::float8 as progress_ms,
  (extract(epoch from clock_timestamp() - least(u.created_at, o.created_at)) * 1000)::float8 as oldest_ms,
  (extract(epoch from clock_timestamp() - least(case when u.available_at <= now() then u.available_at end, o.due_since)) * 1000)::float8 as due_ms,
  (select count(*) from (
    select from ${delivery} d where d.destination = n.destination and d.status = 1 limit ${MOST_DEAD_COUNTED}) x)::int as dead
from named n
left join ${names.destination} t on t.destination = n.destination
left join lateral ${first} u on true
left join lateral (
  select min(f.created_at) as created_at, min(g.available_at) as due_since
  from generate_series(0, ${LANES - 1}) as l(lane)
  left join lateral ${firstOfLane} f on true
  left join lateral ${firstFree} g on f.created_at is not null
) o on true
order by n.destination`;
}
