import type { OutboxNames } from '../table-names.js';

/** The newest changes by hand, at most $1. Locks nothing. */
export function listOperationsSql(names: OutboxNames): string {
  return `select id, at, actor, action, reason, details, affected from ${names.operation} order by id desc limit $1`;
}
