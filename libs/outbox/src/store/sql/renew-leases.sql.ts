import type { OutboxNames } from '../table-names.js';

/**
 * Extends the lease of deliveries and of the lane that still carry the token.
 *
 * $1 token, $2 delivery ids, $3 lease in ms, $4 destination, $5 lane or null. Locks those rows; rides the primary keys.
 * Answers one row: `renewed` deliveries, and whether the lane is still held (true without one).
 */
export function renewLeasesSql(names: OutboxNames): string {
  return `with lane as (
  update ${names.lane} set lease_until = clock_timestamp() + $3 * interval '1 millisecond'
  where destination = $4 and lane = $5 and lease_version = $1 and lease_until is not null
  returning lane
), renewed as (
  update ${names.delivery} set lease_until = clock_timestamp() + $3 * interval '1 millisecond'
  where id = any ($2::bigint[]) and lease_version = $1 and status = 0 and lease_until is not null
    and (lane is null or exists (select from lane))
  returning id
)
select (select count(*) from renewed)::int as renewed`;
}
