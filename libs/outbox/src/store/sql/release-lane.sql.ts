import type { OutboxNames } from '../table-names.js';

/**
 * Gives the lane of a claim back and locks its row to the end of the transaction, so that no claim works with the
 * deliveries as they were before. First of the statements that finalize.
 *
 * $1 token, $2 destination, $3 lane. Rides the primary key. No row: the lane was lost.
 */
export function releaseLaneSql(names: OutboxNames): string {
  return `update ${names.lane} set lease_owner = null, lease_until = null, revision = revision + 1
where destination = $2 and lane = $3 and lease_version = $1`;
}
