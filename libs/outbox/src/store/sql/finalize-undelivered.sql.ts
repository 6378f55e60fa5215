import { withFailedAttempt } from '../attempt-history.js';
import type { OutboxNames } from '../table-names.js';

/**
 * Writes what became of the deliveries of a claim that were not delivered. Behind `release-lane` in one transaction:
 * a dispatcher that lost its lane moves nothing of it. A lease is needed, ended or not, so that the same outcomes
 * written twice refund an attempt once.
 *
 * $1 token, $2 destination, $3 lane or null, $4 rescheduled ids, $5 their delays in ms, $6 attempts to refund (0 or 1),
 * $7 their errors, $8 dead ids, $9 their errors, $10 whether they block their key, $11 released ids. Rides the primary
 * keys. Answers one row, `changed`: how many deliveries carried the token.
 */
export function finalizeUndeliveredSql(names: OutboxNames): string {
  const ours = `d.lease_version = $1 and d.status = 0 and d.lease_until is not null
    and (d.lane is null or (select lane_is_ours from held))`;
  return `with held as materialized (
  select $3::smallint is null or exists (
    select from ${names.lane} where destination = $2 and lane = $3 and lease_version = $1) as lane_is_ours
), rescheduled as (
  update ${names.delivery} d
  set available_at = clock_timestamp() + f.delay_ms * interval '1 millisecond', attempts = d.attempts - f.refund,
    holds_key = d.lane is not null, lease_owner = null, lease_until = null, last_error = f.error,
    history = case when f.refund = 0 then ${withFailedAttempt('f.error')} else d.history end
  from unnest($4::bigint[], $5::float8[], $6::int[], $7::text[]) as f(id, delay_ms, refund, error)
  where d.id = f.id and d.id = any ($4::bigint[]) and ${ours}
  returning d.id
), dead as (
  update ${names.delivery} d
  set status = 1, holds_key = d.lane is not null and f.blocks, lease_owner = null, lease_until = null, last_error = f.error,
    history = ${withFailedAttempt('f.error')}
  from unnest($8::bigint[], $9::text[], $10::boolean[]) as f(id, error, blocks)
  where d.id = f.id and d.id = any ($8::bigint[]) and ${ours}
  returning d.id
), released as (
  update ${names.delivery} d
  set attempts = d.attempts - 1, lease_owner = null, lease_until = null
  where d.id = any ($11::bigint[]) and ${ours}
  returning d.id
)
select ((select count(*) from rescheduled) + (select count(*) from dead) + (select count(*) from released))::int as changed`;
}
