import type { Completion } from '../../config/index.js';
import type { OutboxNames } from '../table-names.js';

/**
 * Completes what was delivered. A success is kept even for a dead letter, if the token is still its own: it was reaped
 * while the publish was running; and a dispatcher that lost its lane may still report what it delivered.
 *
 * $1 token, $2 ids. Rides the primary key. The count of rows is that of the deliveries that carried the token.
 */
export function finalizeDeliveredSql(names: OutboxNames, completion: Completion): string {
  const ours = 'id = any ($2::bigint[]) and lease_version = $1 and status <> 2';
  switch (completion) {
    case 'delete':
      return `delete from ${names.delivery} where ${ours}`;
    case 'keep':
      return `update ${names.delivery} set status = 2, done_at = clock_timestamp(), holds_key = false,
  lease_owner = null, lease_until = null, last_error = null
where ${ours}`;
    case 'archive':
      return `with gone as (
  delete from ${names.delivery} where ${ours} returning id, event_id, destination, attempts
)
insert into ${names.archive} (id, event_id, destination, attempts, done_at)
select id, event_id, destination, attempts, clock_timestamp() from gone`;
  }
}
