import pg from 'pg';
import type { BenchDatabase } from '../measure/bench-server.js';
import { FILLER } from './bench-events.js';

/**
 * The leanest queue that still has a lease and a fence: one table, no library, no order, no retries, no log of what was
 * delivered. What it does in a second is what this machine and PostgreSQL can do at all, so that figures of different
 * machines can be read.
 */
export async function fillBareLoop(database: BenchDatabase, events: number): Promise<void> {
  await database.query('create sequence if not exists bare_token');
  await database.query(
    `create table if not exists bare_queue (
       id bigint generated always as identity primary key,
       payload jsonb not null,
       attempts integer not null default 0,
       lease_until timestamptz,
       lease_version bigint not null default 0
     ) with (fillfactor = 50)`,
  );
  await database.query('truncate bare_queue');
  await database.query(
    `insert into bare_queue (payload)
     select jsonb_build_object('benchId', n::text, 'number', n, 'filler', $2::text) from generate_series(1, $1::int) n`,
    [events, FILLER],
  );
  await database.query('vacuum analyze bare_queue');
}

const CLAIM = `with token as materialized (select nextval('bare_token') as value)
update bare_queue
set lease_until = now() + interval '30 seconds', lease_version = (select value from token), attempts = attempts + 1
where id = any (array(
  select id from bare_queue where lease_until is null or lease_until < now() order by id limit $1 for update skip locked
))
returning id::text, payload::text, lease_version::text as token`;

const FINALIZE = 'delete from bare_queue where id = any ($1::bigint[]) and lease_version = $2';

/** @returns events per second of as many connections as `workers`. */
export async function drainByBareLoop(
  database: BenchDatabase,
  { batchSize, workers }: { batchSize: number; workers: number },
): Promise<number> {
  const clients = Array.from({ length: workers }, () => new pg.Client({ connectionString: database.url }));
  await Promise.all(clients.map((client) => client.connect()));
  const startedAt = performance.now();
  const counts = await Promise.all(clients.map((client) => work(client, batchSize)));
  const seconds = (performance.now() - startedAt) / 1000;
  await Promise.all(clients.map((client) => client.end()));
  return counts.reduce((sum, count) => sum + count, 0) / seconds;
}

async function work(client: pg.Client, batchSize: number): Promise<number> {
  for (let count = 0; ; ) {
    const { rows } = await client.query<{ id: string; token: string }>({
      name: 'claim',
      text: CLAIM,
      values: [batchSize],
    });
    const token = rows[0]?.token;
    if (token === undefined) return count;
    await client.query({ name: 'finalize', text: FINALIZE, values: [rows.map(({ id }) => id), token] });
    count += rows.length;
  }
}
