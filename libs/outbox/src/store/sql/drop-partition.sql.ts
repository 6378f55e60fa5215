import type { OutboxNames } from '../table-names.js';

/**
 * Whether something of the events with ids from $1 up to $2 has to stay for $3 ms. To be asked under the lock: whoever
 * was about to write a delivery of such an event has done so by then, or must wait and will not find the event.
 */
export function mustPartitionStaySql(names: OutboxNames, partition = names.event): string {
  return `select exists (select from ${names.delivery} d where d.event_id >= $1 and d.event_id < $2)
  or exists (select from ${partition} e where e.created_at >= now() - $3 * interval '1 millisecond') as must_stay`;
}
