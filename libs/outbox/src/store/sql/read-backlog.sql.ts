import type { OutboxNames } from '../table-names.js';

/**
 * State, lease, age and attempts of each destination. Locks nothing; reads the whole queue once, but not the log, and keeps no
 * more of it than a line for each combination.
 */
export function readBacklogSql(names: OutboxNames): string {
  return `with grouped as (
  select destination, attempts, status = 1 as is_dead,
    case when lease_until is null then 'none' when lease_until >= now() then 'held' else 'ended' end as lease,
    count(*) as total, min(created_at) as oldest
  from ${names.delivery} where status <> 2
  group by destination, attempts, is_dead, lease
)
select g.destination,
  coalesce(sum(g.total) filter (where not g.is_dead and g.lease = 'none'), 0)::int as pending,
  coalesce(sum(g.total) filter (where not g.is_dead and g.lease = 'held'), 0)::int as processing,
  coalesce(sum(g.total) filter (where not g.is_dead and g.lease = 'ended'), 0)::int as expired_leases,
  coalesce(sum(g.total) filter (where g.is_dead), 0)::int as dead,
  (extract(epoch from clock_timestamp() - min(g.oldest) filter (where not g.is_dead)) * 1000)::float8 as oldest_ms,
  coalesce((select jsonb_object_agg(h.attempts, h.total) from (
    select attempts, sum(total) as total from grouped where destination = g.destination and not is_dead group by attempts
  ) h), '{}')::text as attempts
from grouped g
group by g.destination
order by g.destination`;
}
