import pg from 'pg';
import type { BenchDatabase } from '../measure/bench-server.js';

/** Does `work` while another session holds a snapshot of before it, so that vacuum can remove nothing that dies in it. */
export async function withPinnedXmin<T>(database: BenchDatabase, work: () => Promise<T>): Promise<T> {
  const session = new pg.Client({ connectionString: database.url });
  await session.connect();
  try {
    await session.query('begin isolation level repeatable read');
    await session.query('select count(*) from outbox_lane'); // the first query takes the snapshot
    return await work();
  } finally {
    await session.end();
  }
}
