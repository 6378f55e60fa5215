import type { OutboxNames } from '../table-names.js';

/** $1 destination or null for all, $2 delivery ids or null for all. Rides `…_dead` (destination, id). */
const SELECTED =
  'd.status = 1 and ($1::text is null or d.destination = $1) and ($2::bigint[] is null or d.id = any ($2::bigint[]))';

/** Dead letters, oldest first, at most $3. Locks nothing. */
export function listDeadLettersSql(names: OutboxNames): string {
  return `select d.id::text, d.event_id, d.destination, d.attempts, d.last_error, d.created_at, d.holds_key,
  e.type, e.aggregatetype, e.aggregateid
from ${names.delivery} d left join ${names.event} e on e.id = d.event_id
where ${SELECTED}
order by d.id limit $3`;
}

/** Puts dead letters back. A key that one of them holds stays held by it until it is claimed. Locks those rows. */
export function redriveDeadLettersSql(names: OutboxNames): string {
  return `with redriven as (
  update ${names.delivery} d
  set status = 0, attempts = 0, redrives = d.redrives + 1, available_at = clock_timestamp(), lease_owner = null, lease_until = null
  where ${SELECTED}
  returning d.id
)
select count(*)::int as changed from redriven`;
}

/** Removes dead letters; their keys are free. Locks those rows. */
export function discardDeadLettersSql(names: OutboxNames): string {
  return `with discarded as (
  delete from ${names.delivery} d where ${SELECTED}
  returning d.id
)
select count(*)::int as changed from discarded`;
}
