import type { Completion } from '../../config/index.js';
import type { OutboxNames } from '../table-names.js';

/**
 * Writes the outcomes of one claim under its token and gives its lane back.
 *
 * $1 token, $2 destination, $3 lane or null, $4 delivered ids, $5 rescheduled ids, $6 their delays in ms, $7 attempts
 * to refund (0 or 1), $8 their errors, $9 dead ids, $10 their errors, $11 whether they block their key, $12 released ids.
 *
 * The lane's row comes first and is locked to the end, so that no claim works with the deliveries as they were before;
 * a dispatcher that lost its lane may still report what it delivered, but moves nothing else of that lane. A success is
 * kept even for a dead letter, if the token is still its own: it was reaped while the publish was running. Everything
 * else needs a lease, ended or not, so that the same outcomes written twice refund an attempt once.
 * Answers one row, `changed`: how many deliveries carried the token.
 */
export function finalizeDeliveriesSql(names: OutboxNames, completion: Completion): string {
  return `with lane as materialized (
  update ${names.lane} set lease_owner = null, lease_until = null, revision = revision + 1
  where destination = $2 and lane = $3 and lease_version = $1
  returning lane
), held as materialized (
  select $3::smallint is null or exists (select from lane) as lane_is_ours
), ${deliveredSql(names, completion)}, rescheduled as (
  update ${names.delivery} d
  set available_at = clock_timestamp() + f.delay_ms * interval '1 millisecond', attempts = d.attempts - f.refund,
    holds_key = d.lane is not null, lease_owner = null, lease_until = null, last_error = f.error
  from unnest($5::bigint[], $6::float8[], $7::int[], $8::text[]) as f(id, delay_ms, refund, error)
  where d.id = f.id and d.id = any ($5::bigint[]) and d.lease_version = $1 and d.status = 0 and d.lease_until is not null
    and (d.lane is null or (select lane_is_ours from held))
  returning d.id
), dead as (
  update ${names.delivery} d
  set status = 1, holds_key = d.lane is not null and f.blocks, lease_owner = null, lease_until = null, last_error = f.error
  from unnest($9::bigint[], $10::text[], $11::boolean[]) as f(id, error, blocks)
  where d.id = f.id and d.id = any ($9::bigint[]) and d.lease_version = $1 and d.status = 0 and d.lease_until is not null
    and (d.lane is null or (select lane_is_ours from held))
  returning d.id
), released as (
  update ${names.delivery} d
  set attempts = d.attempts - 1, lease_owner = null, lease_until = null
  where d.id = any ($12::bigint[]) and d.lease_version = $1 and d.status = 0 and d.lease_until is not null
    and (d.lane is null or (select lane_is_ours from held))
  returning d.id
)
select ((select count(*) from delivered) + (select count(*) from rescheduled)
  + (select count(*) from dead) + (select count(*) from released))::int as changed`;
}

/** The expressions that end in `delivered (id)`; the question about the lane makes its row come first. */
function deliveredSql(names: OutboxNames, completion: Completion): string {
  const ours =
    'id = any ($4::bigint[]) and lease_version = $1 and status <> 2 and (select lane_is_ours from held) is not null';
  switch (completion) {
    case 'delete':
      return `delivered as (
  delete from ${names.delivery} where ${ours} returning id
)`;
    case 'keep':
      return `delivered as (
  update ${names.delivery} set status = 2, done_at = clock_timestamp(), holds_key = false,
    lease_owner = null, lease_until = null, last_error = null
  where ${ours} returning id
)`;
    case 'archive':
      return `gone as (
  delete from ${names.delivery} where ${ours} returning id, event_id, destination, attempts
), delivered as (
  insert into ${names.archive} (id, event_id, destination, attempts, done_at)
  select id, event_id, destination, attempts, clock_timestamp() from gone returning id
)`;
  }
}
