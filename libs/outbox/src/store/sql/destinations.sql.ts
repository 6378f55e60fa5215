import { operationId, recordOperation } from '../record-operation.js';
import type { OutboxNames } from '../table-names.js';

const OPERATION = { actor: '$2', reason: '$3', details: '$4' };

/** What is known of each destination. Locks nothing. */
export function listDestinationsSql(names: OutboxNames): string {
  return `select destination, failures, last_error, delivered::float8 as delivered, progressed_at, paused_at, paused_by, pause_reason,
  case when failures > 0 and resume_at > clock_timestamp() then resume_at end as resume_at
from ${names.destination} order by destination`;
}

/** Pauses destination $1 for all dispatchers, also before its first event. Locks its row; zero rows: it was paused. */
export function pauseDestinationSql(names: OutboxNames): string {
  return `with ${operationId(names)}, changed as (
  insert into ${names.destination} as t (destination, paused_at, paused_by, pause_reason)
  values ($1, clock_timestamp(), $2, $3)
  on conflict (destination) do update set paused_at = excluded.paused_at, paused_by = $2, pause_reason = $3
  where t.paused_at is null
  returning destination
), ${recordOperation(names, 'pause', OPERATION)}
select destination from changed`;
}

/** Lets destination $1 go on. Locks its row; zero rows: it was not paused. */
export function resumeDestinationSql(names: OutboxNames): string {
  return `with ${operationId(names)}, changed as (
  update ${names.destination} set paused_at = null, paused_by = null, pause_reason = null
  where destination = $1 and paused_at is not null
  returning destination
), ${recordOperation(names, 'resume', OPERATION)}
select destination from changed`;
}

/** Adds $2 deliveries to the flow of destination $1, and says that it moves. Locks its row. */
export function noteProgressSql(names: OutboxNames): string {
  return `update ${names.destination} set delivered = delivered + $2, progressed_at = clock_timestamp() where destination = $1`;
}
