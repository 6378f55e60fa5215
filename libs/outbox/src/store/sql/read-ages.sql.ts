import type { OutboxNames } from '../table-names.js';

/**
 * Age in ms of the oldest event of the log, by its primary key, and of the oldest dead letter; null without one. Locks
 * nothing; reads every dead letter.
 */
export function readAgesSql(names: OutboxNames): string {
  const age = (since: string): string => `(extract(epoch from clock_timestamp() - ${since}) * 1000)::float8`;
  return `select ${age(`(select e.created_at from ${names.event} e order by e.id limit 1)`)} as oldest_event_ms,
  ${age(`(select min(d.created_at) from ${names.delivery} d where d.status = 1)`)} as oldest_dead_ms`;
}
