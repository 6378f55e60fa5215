import type { BenchDatabase } from '../measure/bench-server.js';
import { FILLER } from '../sides/bench-events.js';

export type EventKind = 'unordered' | 'ordered';

export const DESTINATIONS = ['left', 'right'] as const;
const AGGREGATES = 1000;

/**
 * Writes the same backlog for two destinations, by one statement, into emptied tables. The lanes are given back, as
 * those of a process that was killed are not.
 */
export async function fillTwoDestinations(database: BenchDatabase, events: number, kind: EventKind): Promise<void> {
  await database.query('truncate outbox_event, outbox_delivery, outbox_aggregate');
  await database.query('update outbox_lane set lease_owner = null, lease_until = null');
  await database.query(
    `with input as materialized (
       select n, gen_random_uuid() as id, (n % $2::int)::text as aggregateid, $3::boolean as is_ordered
       from generate_series(1, $1::int) n
     ), stored as (
       insert into outbox_event (id, aggregatetype, aggregateid, type, payload, sequence, destinations)
       select id, 'bench', aggregateid, case when is_ordered then 'bench.stepped' else 'bench.noted' end,
         jsonb_build_object('benchId', aggregateid, 'number', n, 'filler', $4::text),
         case when is_ordered then n end, $5::text[]
       from input order by n
     )
     insert into outbox_delivery (event_id, destination, ordering_key, lane, payload_bytes)
     select id, d, case when is_ordered then hashtextextended(aggregateid, 0) end,
       case when is_ordered then (hashtextextended(aggregateid, 0) & 31)::smallint end, 300
     from input cross join unnest($5::text[]) d order by n`,
    [events, AGGREGATES, kind === 'ordered', FILLER, DESTINATIONS],
  );
  await database.query('vacuum analyze outbox_event');
  await database.query('vacuum analyze outbox_delivery');
}
