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
  readonly delivered: string;
  readonly releaseLane: string;
  readonly settings: string;
}

/** The library's own statements, which are no part of its public interface, hence by path. */
async function librarySql(): Promise<LibrarySql> {
  const store = (file: string): string => new URL(`../../../../libs/outbox/dist/store/${file}`, import.meta.url).href;
  const { claimDeliveriesSql } = await import(store('sql/claim-deliveries.sql.js'));
  const { finalizeDeliveredSql } = await import(store('sql/finalize-delivered.sql.js'));
  const { releaseLaneSql } = await import(store('sql/release-lane.sql.js'));
  const { SESSION_SETTINGS } = await import(store('dispatcher-pool.js'));
  const { outboxNames } = await import(store('table-names.js'));
  const { resolveTables } = await import(new URL('../../../../libs/outbox/dist/config/index.js', import.meta.url).href);
  const names = outboxNames('public', resolveTables(undefined));
  return {
    claim: claimDeliveriesSql(names),
    delivered: finalizeDeliveredSql(names, 'delete'),
    releaseLane: releaseLaneSql(names),
    settings: SESSION_SETTINGS,
  };
}

/**
 * The least that can be done with the library's statements: claim, do nothing with the rows, finalize them and claim the
 * next in one transaction and one round trip, on as many connections as `workers`, until nothing is due. No envelope is
 * read, no outcome decided, no lease kept.
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
      const client = new pg.Client({ connectionString: database.url, pipeline: true });
      await client.connect();
      await client.query(sql.settings);
      return client;
    }),
  );
  const startedAt = performance.now();
  const counts = await Promise.all(clients.map((client) => work(client, sql, options.batchSize, options.publish)));
  const seconds = (performance.now() - startedAt) / 1000;
  await Promise.all(clients.map((client) => client.end()));
  return counts.reduce((sum, count) => sum + count, 0) / seconds;
}

/** What the next step has to finalize. */
interface Batch {
  readonly token: string;
  readonly lane: number | null;
  readonly ids: readonly string[];
}

async function work(
  client: pg.Client,
  sql: LibrarySql,
  batchSize: number,
  publish: (rows: readonly RawRow[]) => Promise<void> = async () => undefined,
): Promise<number> {
  let count = 0;
  for (let batch: Batch | undefined, isFirst = true; isFirst || batch !== undefined; isFirst = false) {
    const rows = await step(client, sql, batchSize, batch);
    const found = rows.filter(({ id }) => id !== null);
    batch = found.length === 0 ? undefined : { ...factsOf(rows), ids: found.map(({ id }) => id) };
    count += found.length;
    if (batch !== undefined) await publish(found);
  }
  return count;
}

/** Finalizes the batch before, if there is one, and claims. */
async function step(
  client: pg.Client,
  sql: LibrarySql,
  batchSize: number,
  batch: Batch | undefined,
): Promise<readonly ClaimedRow[]> {
  const sent: Promise<unknown>[] = [client.query('begin')];
  if (batch !== undefined) {
    const { token, lane, ids } = batch;
    if (lane !== null)
      sent.push(client.query({ name: 'release', text: sql.releaseLane, values: [token, DESTINATION, lane] }));
    sent.push(client.query({ name: 'delivered', text: sql.delivered, values: [token, `{${ids.join(',')}}`] }));
  }
  const claiming = client.query<ClaimedRow>({
    name: 'claim',
    text: sql.claim,
    values: [DESTINATION, 'raw', 30_000, batchSize, 12, 16_777_216, null, batch === undefined],
    types: AS_TEXT,
  });
  await Promise.all([...sent, claiming, client.query('commit')]);
  return (await claiming).rows;
}

interface ClaimedRow extends RawRow {
  readonly id: string;
  readonly facts: string | null;
}

const AS_TEXT = { getTypeParser: () => (text: string) => text };

function factsOf(rows: readonly ClaimedRow[]): { token: string; lane: number | null } {
  return JSON.parse(rows.find(({ facts }) => facts !== null)?.facts ?? '{}');
}
