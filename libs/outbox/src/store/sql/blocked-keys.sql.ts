import { operationId, recordOperation } from '../record-operation.js';
import type { OutboxNames } from '../table-names.js';

/** $1 destination, $2 aggregate type, $3 aggregate id, each null for all. */
const SELECTED = `h.holds_key and ($1::text is null or h.destination = $1)
  and ($2::text is null or e.aggregatetype = $2) and ($3::text is null or e.aggregateid = $3)`;

/** What holds an aggregate back, oldest first, at most $4. Rides `…_holding` and `…_lane`. Locks nothing. */
export function listBlockedKeysSql(names: OutboxNames): string {
  return `select h.id::text, h.event_id, h.destination, h.status = 1 as is_dead, h.available_at, h.last_error,
  e.type, e.aggregatetype, e.aggregateid,
  (select count(*) from ${names.delivery} f
    where f.destination = h.destination and f.lane = h.lane and f.ordering_key = h.ordering_key
      and f.status = 0 and f.id > h.id)::int as followers
from ${names.delivery} h left join ${names.event} e on e.id = h.event_id
where ${SELECTED} and (h.status = 1 or (h.status = 0 and h.available_at > clock_timestamp()))
order by h.id limit $4`;
}

/** Lets the followers of the selected dead letters pass; they stay dead. Locks those rows. One row for each destination. */
export function releaseBlockedKeysSql(names: OutboxNames): string {
  return `with ${operationId(names)}, changed as (
  update ${names.delivery} d set holds_key = false
  where d.status = 1 and d.id = any (array(
    select h.id from ${names.delivery} h left join ${names.event} e on e.id = h.event_id where h.status = 1 and ${SELECTED}))
  returning d.destination
), ${recordOperation(names, 'release', { actor: '$4', reason: '$5', details: '$6' })}
select destination, count(*)::int as count from changed group by destination`;
}
