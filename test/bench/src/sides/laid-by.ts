import type { BenchDatabase } from '../measure/bench-server.js';
import { addBacklog, type Backlog } from './backlog.js';

/** Adds events that were delivered long ago: they are in the log, their deliveries are gone. The queue is emptied. */
export async function addFinished(database: BenchDatabase, backlog: Backlog): Promise<void> {
  await addBacklog(database, backlog);
  await database.query('truncate outbox_delivery');
}

/**
 * Makes the queue one of deliveries that failed and are to be tried again tomorrow. Of ordered ones, that is the first
 * of each aggregate, which holds the others back; they get aggregates of their own, in the same lanes.
 */
export async function addDelayed(database: BenchDatabase, backlog: Backlog): Promise<void> {
  await addBacklog(database, backlog);
  await database.query(
    'update outbox_delivery set ordering_key = ordering_key # (1::bigint << 40) where lane is not null',
  );
  await database.query(
    `update outbox_delivery d
     set attempts = 1, available_at = clock_timestamp() + interval '1 day', holds_key = d.lane is not null
     where d.lane is null or d.id in (select min(id) from outbox_delivery group by ordering_key)`,
  );
}
