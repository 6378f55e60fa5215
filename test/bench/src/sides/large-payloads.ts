import type { BenchDatabase } from '../measure/bench-server.js';
import { DESTINATION } from './library.js';

/** A record of the payload as PostgreSQL writes it takes about this much. */
const RECORD_BYTES = 85;

/**
 * Adds unordered events with large payloads, lists of small records, to empty tables.
 *
 * @returns size of each payload as JSON text, in bytes.
 */
export async function fillLargePayloads(
  database: BenchDatabase,
  { events, payloadBytes }: { events: number; payloadBytes: number },
): Promise<number> {
  // Compressing a gigabyte would take longer than the measurement, and changes nothing for who reads it.
  await database.query('alter table outbox_event alter column payload set storage external');
  const [row] = await database.query<{ payload_bytes: number }>(
    `with document as materialized (
       select jsonb_build_object('records', jsonb_agg(jsonb_build_object('id', n, 'name', md5(n::text), 'amountCents', n * 7))) as payload
       from generate_series(1, $2::int) n
     ), size as materialized (
       select octet_length(payload::text) as bytes from document
     ), stored as (
       insert into outbox_event (id, aggregatetype, aggregateid, type, payload, destinations)
       select gen_random_uuid(), 'bench', n::text, 'bench.noted', payload, array[$3::text]
       from document, generate_series(1, $1::int) n
       returning id
     ), queued as (
       insert into outbox_delivery (event_id, destination, payload_bytes) select id, $3, bytes from stored, size
     )
     select bytes as payload_bytes from size`,
    [events, Math.floor(payloadBytes / RECORD_BYTES), DESTINATION],
  );
  if (row === undefined) throw new Error('no payload was written');
  return row.payload_bytes;
}
