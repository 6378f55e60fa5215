import type { OutboxNames } from '../table-names.js';

/** Lets the followers of the dead letters $1 (ids) pass. Locks those rows; zero rows mean that none is dead any more. */
export function unblockKeysSql(names: OutboxNames): string {
  return `update ${names.delivery} set holds_key = false where id = any ($1::bigint[]) and status = 1`;
}
