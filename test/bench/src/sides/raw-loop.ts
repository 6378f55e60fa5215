import pg from 'pg';
import type { BenchDatabase } from '../measure/bench-server.js';
import { DESTINATION } from './library.js';

/** Columns of a claimed row that a publish needs. */
export interface RawRow {
  readonly event_id: string;
  readonly type: string;
  readonly aggregateid: string;
  /** JSON. */
  readonly payload: string;
}

interface LibrarySql {
  readonly claim: string;
  readonly finalize: string;
}

/** The library's own statements, which are no part of its public interface, hence by path. */
async function librarySql(): Promise<LibrarySql> {
  const store = (file: string): string => new URL(`../../../../libs/outbox/dist/store/${file}`, import.meta.url).href;
  const { claimDeliveriesSql } = await import(store('sql/claim-deliveries.sql.js'));
  const { finalizeDeliveriesSql } = await import(store('sql/finalize-deliveries.sql.js'));
  const { outboxNames } = await import(store('table-names.js'));
  const { resolveTables } = await import(new URL('../../../../libs/outbox/dist/config/index.js', import.meta.url).href);
  const names = outboxNames('public', resolveTables(undefined));
  return { claim: claimDeliveriesSql(names), finalize: finalizeDeliveriesSql(names, 'delete') };
}

/**
 * The least that can be done with the library's statements: claim, do nothing with the rows, finalize, on as many
 * connections as `workers`, until nothing is due. No envelope is read, no outcome decided, no lease kept.
 *
 * @returns events per second.
 */
export async function drainByRawLoop(
  database: BenchDatabase,
  options: {
    readonly batchSize: number;
    readonly workers: number;
    /** What becomes of the rows between claim and finalize; nothing by default. */
    readonly publish?: (rows: readonly RawRow[]) => Promise<void>;
  },
): Promise<number> {
  const sql = await librarySql();
  const clients = await Promise.all(
    Array.from({ length: options.workers }, async () => {
      const client = new pg.Client({ connectionString: database.url });
      await client.connect();
      return client;
    }),
  );
  const startedAt = performance.now();
  const counts = await Promise.all(clients.map((client) => work(client, sql, options.batchSize, options.publish)));
  const seconds = (performance.now() - startedAt) / 1000;
  await Promise.all(clients.map((client) => client.end()));
  return counts.reduce((sum, count) => sum + count, 0) / seconds;
}

async function work(
  client: pg.Client,
  sql: LibrarySql,
  batchSize: number,
  publish: ((rows: readonly RawRow[]) => Promise<void>) | undefined,
): Promise<number> {
  for (let count = 0; ; ) {
    const { rows } = await client.query({
      name: 'claim',
      text: sql.claim,
      values: [DESTINATION, 'raw', 30_000, batchSize, 12, 16_777_216],
    });
    const ids = rows.map((row) => row.id).filter((id) => id !== null);
    if (ids.length === 0) return count;
    const { token, lane } = rows[0];
    await publish?.(rows);
    await client.query({
      name: 'finalize',
      text: sql.finalize,
      values: [token, DESTINATION, lane, ids, [], [], [], [], [], [], [], []],
    });
    count += ids.length;
  }
}
