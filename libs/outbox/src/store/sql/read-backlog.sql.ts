import type { OutboxNames } from '../table-names.js';

/** State, lease, age and attempts of each destination. Locks nothing; reads the whole queue, but not the log. */
export function readBacklogSql(names: OutboxNames): string {
  return `with undelivered as (
  select d.destination, d.attempts, d.status, d.created_at,
    d.status = 0 and d.lease_until >= clock_timestamp() as is_processing,
    d.status = 0 and d.lease_until < clock_timestamp() as is_expired
  from ${names.delivery} d where d.status <> 2
), histogram as (
  select destination, jsonb_object_agg(attempts, total) as attempts
  from (select destination, attempts, count(*) as total from undelivered where status = 0 group by destination, attempts) h
  group by destination
)
select u.destination,
  count(*) filter (where u.status = 0 and u.is_processing is not true and u.is_expired is not true)::int as pending,
  count(*) filter (where u.is_processing)::int as processing,
  count(*) filter (where u.is_expired)::int as expired_leases,
  count(*) filter (where u.status = 1)::int as dead,
  (extract(epoch from clock_timestamp() - min(u.created_at) filter (where u.status = 0)) * 1000)::float8 as oldest_ms,
  coalesce((select h.attempts from histogram h where h.destination = u.destination), '{}')::text as attempts
from undelivered u
group by u.destination
order by u.destination`;
}
