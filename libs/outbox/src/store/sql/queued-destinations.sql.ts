import type { OutboxNames } from '../table-names.js';

/** The conditions of the partial indexes that begin with the destination. */
const QUEUES = {
  unordered: 'd.status = 0 and d.lane is null',
  ordered: 'd.status = 0 and d.lane is not null',
  dead: 'd.status = 1',
} as const;

/**
 * The destinations for which something waits or is dead. Locks nothing; jumps from one to the next along the indexes of the
 * queue, so that a million rows of one destination are one step.
 */
export function queuedDestinationsSql(names: OutboxNames): string {
  const next = (condition: string, after: string): string =>
    `(select d.destination from ${names.delivery} d where ${condition}${after} order by d.destination limit 1)`;
  const steps = Object.entries(QUEUES).map(
    ([queue, condition]) => `${queue} as (
  ${next(condition, '')}
  union all
  select ${next(condition, ' and d.destination > q.destination')} from ${queue} q where q.destination is not null
)`,
  );
  const all = Object.keys(QUEUES).map((queue) => `select destination from ${queue} where destination is not null`);
  return `with recursive ${steps.join(', ')}
${all.join('\nunion ')}
order by destination`;
}
