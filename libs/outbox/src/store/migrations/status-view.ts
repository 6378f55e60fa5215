import type { OutboxNames } from '../table-names.js';

/** For people: one line for each event and destination. What has no row in the queue or the archive any more was delivered. */
export function statusView(names: OutboxNames): string {
  return `create view ${names.status} as
select e.id as event_id, e.type, e.aggregatetype, e.aggregateid, e.sequence, t.destination,
  case
    when d.status = 1 then 'dead'
    when d.status = 0 and d.lease_until > clock_timestamp() then 'processing'
    when d.status = 0 then 'pending'
    when a.outcome = 'discarded' then 'discarded'
    else 'done'
  end as state,
  coalesce(d.attempts, a.attempts) as attempts,
  d.last_error,
  case when d.status = 0 then d.available_at end as available_at,
  e.created_at,
  coalesce(d.done_at, a.done_at) as done_at
from ${names.event} e
cross join lateral unnest(e.destinations) as t(destination)
left join ${names.delivery} d on d.event_id = e.id and d.destination = t.destination
left join ${names.archive} a on a.event_id = e.id and a.destination = t.destination and d.id is null`;
}
