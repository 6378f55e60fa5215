import type { OutboxNames } from '../table-names.js';

/**
 * What of the events with ids from $1 up to $2, which are those of one partition, has to stay for $3 ms; see
 * PartitionContents. Locks nothing. Rides `…_event` (event_id, destination) of the delivery queue and, in the partition,
 * the BRIN index on created_at; reads the archive as a whole.
 */
export function countPartitionContentsSql(names: OutboxNames, partition = names.event): string {
  return `select
  count(*) filter (where d.status = 0)::int as undelivered,
  count(*) filter (where d.status = 1)::int as dead_letters,
  (count(*) filter (where d.status = 2)
    + (select count(*) from ${names.archive} a where a.event_id >= $1 and a.event_id < $2))::int as kept,
  (select count(*)::int from ${partition} e
    where e.created_at >= now() - $3 * interval '1 millisecond') as young
from ${names.delivery} d where d.event_id >= $1 and d.event_id < $2`;
}
