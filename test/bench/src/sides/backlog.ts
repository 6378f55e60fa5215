import type { BenchDatabase } from '../measure/bench-server.js';
import { FILLER } from './bench-events.js';
import { DESTINATION } from './library.js';

export interface Backlog {
  readonly events: number;
  /** How many aggregates the events are spread over in turn; without it they are unordered. */
  readonly aggregates?: number;
  /** Share (0 to 1) of the ordered events that belong to the first aggregate; the others are spread. Default 0. */
  readonly shareOfFirst?: number;
}

/**
 * Writes a backlog into the library's tables as its emit would have, by one statement, and lets PostgreSQL look at it.
 * The tables are emptied before.
 */
export async function fillBacklog(database: BenchDatabase, backlog: Backlog): Promise<void> {
  await emptyOutbox(database);
  await addBacklog(database, backlog);
  await lookAtTables(database);
}

export async function emptyOutbox(database: BenchDatabase): Promise<void> {
  await database.query('truncate outbox_event, outbox_delivery, outbox_aggregate');
  await database.query('update outbox_lane set lease_owner = null, lease_until = null');
}

/** Vacuums, and takes statistics of what is there now. */
export async function lookAtTables(database: BenchDatabase): Promise<void> {
  await database.query('vacuum analyze outbox_event');
  await database.query('vacuum analyze outbox_delivery');
}

/** Adds to what is there; PostgreSQL keeps the statistics that it has. */
export async function addBacklog(
  database: BenchDatabase,
  { events, aggregates, shareOfFirst = 0 }: Backlog,
): Promise<void> {
  await database.query(
    `with input as (
       select n, gen_random_uuid() as id,
         case when $2::int is null then n::text when n % 1000 < $3::float8 * 1000 then '0' else (n % $2)::text end as aggregateid
       from generate_series(1, $1::int) n
     ), stored as (
       insert into outbox_event (id, aggregatetype, aggregateid, type, payload, sequence, destinations)
       select id, 'bench', aggregateid, case when $2::int is null then 'bench.noted' else 'bench.stepped' end,
         jsonb_build_object('benchId', aggregateid, 'number', n, 'filler', $4::text),
         case when $2::int is not null then n end, array[$5::text]
       from input order by n
     )
     insert into outbox_delivery (event_id, destination, ordering_key, lane, payload_bytes)
     select id, $5, case when $2::int is not null then hashtextextended(aggregateid, 0) end,
       case when $2::int is not null then (hashtextextended(aggregateid, 0) & 31)::smallint end, 300
     from input order by n`,
    [events, aggregates ?? null, shareOfFirst, FILLER, DESTINATION],
  );
}

/** @throws Error when something is left that should have been delivered. */
export async function expectDrained(database: BenchDatabase): Promise<void> {
  const [row] = await database.query<{ left: string }>(
    'select count(*) as left from outbox_delivery where status <> 2',
  );
  if (row?.left !== '0') throw new Error(`${row?.left} deliveries are left, so the measurement is void`);
}
