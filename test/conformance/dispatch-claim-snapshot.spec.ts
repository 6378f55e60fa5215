import pg from 'pg';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { claimDeliveriesSql } from '../../libs/outbox/src/store/sql/claim-deliveries.sql.js';
import { eventually } from '../support/eventually.js';
import {
  finalization,
  idsOf,
  mustClaim,
  type OutboxQueue,
  startOutboxQueue,
  tableNames,
} from '../support/outbox-queue.js';

const LOCK = 77;
const DUE_LANE = 'select l.lane, l.revision from';

/** The very claim, which stops between its snapshot and its first lock until the advisory lock is free. */
function stoppingClaim(): string {
  const text = claimDeliveriesSql(tableNames);
  if (!text.includes(DUE_LANE)) throw new Error('the claim reads the lanes in another way');
  return text.replace(DUE_LANE, `${DUE_LANE} (select pg_advisory_lock_shared(${LOCK})) as stop,`);
}

describe('a claim that sees the queue as it was before', () => {
  let queue: OutboxQueue;
  let gate: pg.Client;
  let slow: pg.Client;
  beforeEach(async () => {
    queue = await startOutboxQueue();
    [gate, slow] = [new pg.Client(queue.database.url), new pg.Client(queue.database.url)];
    await Promise.all([gate.connect(), slow.connect()]);
  });
  afterEach(async () => {
    await Promise.all([gate.end(), slow.end()]);
    await queue.close();
  });

  /** @returns ids that the claim took, although `meanwhile` was committed after its snapshot. */
  const claimAcross = async (meanwhile: () => Promise<unknown>): Promise<string[]> => {
    await gate.query('select pg_advisory_lock($1)', [LOCK]);
    const claiming = slow.query(stoppingClaim(), ['memory', 'slow', 60_000, 100, 3, 1_000_000, null, true]);
    await eventually(async () => {
      const stopped = await queue.database.query(`select 1 from pg_locks where locktype = 'advisory' and not granted`);
      expect(stopped).toHaveLength(1);
    });
    await meanwhile();
    await gate.query('select pg_advisory_unlock($1)', [LOCK]);
    const { rows } = await claiming;
    return rows.flatMap(({ id }: { id: string | null }) => id ?? []);
  };

  it('takes nothing of a lane that was claimed and given back with a held-back event meanwhile', async () => {
    await queue.emitOrdered('o', 3);
    const [, ...unordered] = await queue.emitUnordered(2);
    const store = queue.openStore();
    const taken = await claimAcross(async () => {
      const claim = await mustClaim(store, { batchSize: 1 });
      const ordered = claim.deliveries.filter(({ orderingKey }) => orderingKey !== undefined).map(({ id }) => id);
      const rescheduled = ordered.map((id) => ({ id, delayMs: 3_600_000, refundAttempt: false, error: 'busy' }));
      const delivered = idsOf(claim).filter((id) => !ordered.includes(id));
      await store.finalize(claim, finalization({ rescheduled, delivered }));
    });
    const rows = await queue.deliveries();
    expect(rows.filter(({ id }) => taken.includes(id)).map(({ eventId }) => eventId)).toEqual(unordered);
    expect(rows.slice(0, 3).map(({ attempts }) => attempts)).toEqual([1, 0, 0]);
  });

  it('takes nothing that was claimed meanwhile, ordered or not', async () => {
    await queue.emitOrdered('o', 3);
    await queue.emitUnordered(3);
    const store = queue.openStore();
    let token = '';
    const taken = await claimAcross(async () => {
      token = (await mustClaim(store)).token;
    });
    expect(taken).toEqual([]);
    expect((await queue.deliveries()).every((row) => row.token === token && row.attempts === 1)).toBe(true);
  });

  it('goes on with the followers of an event whose late success was recorded meanwhile', async () => {
    const [, ...followers] = await queue.emitOrdered('o', 3);
    const store = queue.openStore();
    const late = await mustClaim(store, { batchSize: 1 });
    await queue.expireLeases();
    const lane = await queue.database.query('select * from outbox_lane where lease_version <> 0');
    const taken = await claimAcross(() =>
      // The lane is not its own any more: it reports the delivery and nothing else.
      store.finalize({ ...late, lane: undefined }, finalization({ delivered: idsOf(late) })),
    );
    expect(lane).toHaveLength(1);
    const rows = await queue.deliveries();
    expect(rows.filter(({ id }) => taken.includes(id)).map(({ eventId }) => eventId)).toEqual(followers);
  });

  it('takes what was renewed meanwhile from nobody', async () => {
    await queue.emitOrdered('o', 2);
    await queue.emitUnordered(2);
    const store = queue.openStore();
    const claim = await mustClaim(store);
    await queue.expireLeases();
    const taken = await claimAcross(() => store.renew(claim, idsOf(claim), 60_000));
    expect(taken).toEqual([]);
    expect(await store.finalize(claim, finalization({ delivered: idsOf(claim) }))).toBe(0);
  });
});
