import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { finalization, idsOf, mustClaim, type OutboxQueue, startOutboxQueue } from '../support/outbox-queue.js';
import { type RestartablePostgres, startRestartablePostgres } from './outage-postgres.js';

describe('a claim that PostgreSQL loses in a crash, because nobody waited until it was on the disk', () => {
  let postgres: RestartablePostgres;
  let queue: OutboxQueue;
  beforeAll(async () => {
    postgres = await startRestartablePostgres();
    // What nobody waits for is written much later than the crash comes.
    await postgres.database.query(`alter system set wal_writer_delay = '10s'`);
    await postgres.database.query('select pg_reload_conf()');
    queue = await startOutboxQueue({ database: postgres.database });
  });
  afterAll(async () => {
    await queue.close();
    await postgres.close();
  });

  it('was no claim: the next one has another token, and who still holds the lost one changes nothing', async () => {
    await queue.emitUnordered(2);
    await queue.emitOrdered('o', 2);
    const before = await queue.deliveries();
    const lost = await mustClaim(queue.openStore());
    expect(lost.deliveries).toHaveLength(4);
    await postgres.crash();
    await postgres.start();
    expect(await queue.deliveries()).toEqual(before.map((one) => ({ ...one, dueInMs: expect.any(Number) })));

    const store = queue.openStore();
    const again = await mustClaim(store);
    expect(idsOf(again)).toEqual(idsOf(lost));
    const claimed = await queue.deliveries();
    const dead = idsOf(lost).map((id) => ({ id, error: 'late', blocksKey: true }));
    expect(await store.finalize(lost, finalization({ dead }))).toBe(4);
    expect(await store.finalize(lost, finalization({ delivered: idsOf(lost) }))).toBe(4);
    expect(await queue.deliveries()).toEqual(claimed.map((one) => ({ ...one, dueInMs: expect.any(Number) })));
    expect(await store.finalize(again, finalization({ delivered: idsOf(again) }))).toBe(0);
  });
});
