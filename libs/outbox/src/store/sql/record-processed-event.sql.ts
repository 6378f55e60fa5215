import type { InboxNames } from '../table-names.js';

/**
 * Records an event for a consumer; `is_recorded` is false when the record was there. Then `content_digest` and `result`
 * are those of the record, or null when it was committed after this statement began: its snapshot does not have it.
 * `backend_pid` is for PreparedSession.
 *
 * $1 consumer, $2 event id, $3 event type, $4 digest, $5 longest wait in ms, as text.
 *
 * Rides the primary key. An uncommitted record of another transaction is waited for, under READ COMMITTED and above;
 * after $5 ms the statement fails with 55P03, and above READ COMMITTED with 40001 when that transaction commits.
 * `lock_timeout` is set for this statement only: the insert reads from the CTE that sets it, and what sets it back
 * reads from the insert. A statement that fails takes the setting back with it.
 */
export function recordProcessedEventSql(names: InboxNames): string {
  return `with bounded as materialized (
  select current_setting('lock_timeout') as outer_timeout, set_config('lock_timeout', $5, true) as inner_timeout
), recorded as (
  insert into ${names.processed} (consumer_name, event_id, event_type, content_digest)
  select $1, $2, $3, $4::bytea from bounded
  on conflict (consumer_name, event_id) do nothing
  returning 1
), outcome as materialized (
  select count(*) = 1 as is_recorded from recorded
)
select o.is_recorded, p.content_digest, p.result, pg_backend_pid() as backend_pid,
  set_config('lock_timeout', b.outer_timeout, true) as lock_timeout
from outcome o cross join bounded b
left join ${names.processed} p on not o.is_recorded and p.consumer_name = $1 and p.event_id = $2`;
}
