import { randomBytes } from 'node:crypto';
import type { BenchDatabase } from '../measure/bench-server.js';
import { BenchNoted } from '../sides/bench-events.js';

/** Bytes of a payload as JSON, with the name that a table calls it by. */
export const SIZES = [
  { name: '300 B', bytes: 300 },
  { name: '1 kB', bytes: 1000 },
  { name: '10 kB', bytes: 10_000 },
  { name: '100 kB', bytes: 100_000 },
] as const;

export type Size = (typeof SIZES)[number];

const BYTES_BESIDE_FILLER = 48;

/** Text that PostgreSQL cannot compress much, as it could a repetition. */
export function fillerOf({ bytes }: Size): string {
  return randomBytes(Math.ceil(bytes / 2))
    .toString('hex')
    .slice(0, bytes - BYTES_BESIDE_FILLER);
}

export function eventOf(size: Size, number: number): BenchNoted {
  return Object.assign(new BenchNoted(), { benchId: String(number), number, filler: fillerOf(size) });
}

/** Writes unordered events for the destinations into emptied tables. */
export async function fillPayloads(
  database: BenchDatabase,
  events: number,
  size: Size,
  destinations: readonly string[] = ['first'],
): Promise<void> {
  await database.query('truncate outbox_event, outbox_delivery, outbox_aggregate');
  await database.query(
    `with input as materialized (select n, gen_random_uuid() as id from generate_series(1, $1::int) n), stored as (
       insert into outbox_event (id, aggregatetype, aggregateid, type, payload, destinations)
       select id, 'bench', n::text, 'bench.noted',
         jsonb_build_object('benchId', n::text, 'number', n, 'filler', $2::text), $3::text[]
       from input order by n
     )
     insert into outbox_delivery (event_id, destination, payload_bytes)
     select id, d, $4 from input cross join unnest($3::text[]) d order by n`,
    [events, fillerOf(size), destinations, size.bytes],
  );
  await database.query('vacuum analyze outbox_event');
  await database.query('vacuum analyze outbox_delivery');
}
