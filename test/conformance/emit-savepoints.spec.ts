import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type ClaimWatch, watchClaims } from '../support/claim-watch.js';
import { noted, type OutboxApp, startOutboxApp, step } from '../support/outbox-app.js';

const HOUR_MS = 3_600_000;
const [one, two] = [randomUUID(), randomUUID()];

describe('events in nested transactions', () => {
  let app: OutboxApp;
  let watch: ClaimWatch;
  beforeAll(async () => {
    watch = watchClaims();
    // The loop looks for work when it starts, and then only when it is woken.
    app = await startOutboxApp({
      outbox: { dispatcher: { schedule: 'loop', pollIntervalMs: HOUR_MS, wakeUp: false } },
    });
    await app.database.query('create table label (name text unique deferrable initially deferred)');
  });
  afterAll(async () => {
    await app.close();
    watch.stop();
  });
  beforeEach(async () => {
    await watch.quiet();
    app.memory.clear();
  });
  afterEach(() => app.database.query('truncate outbox_event, outbox_aggregate, label'));

  const stored = async (): Promise<unknown[]> =>
    (await app.database.query('select aggregateid from outbox_event order by id')).map((row) => row.aggregateid);

  /** The dispatcher is alive and what it delivers next is this and nothing else. */
  async function expectNextDelivery(): Promise<void> {
    const sentinel = randomUUID();
    await app.outbox.transaction(() => app.outbox.emit(noted(sentinel)));
    await app.memory.waitForCount(1, 10_000);
    expect(app.memory.received.map(({ envelope }) => envelope.aggregateId)).toEqual([sentinel]);
  }

  it('an event of a nested transaction that was rolled back is gone, the outer one stays and is delivered', async () => {
    await app.dataSource.transaction(async (outer) => {
      await app.outbox.emit(outer, noted(one));
      const nested = outer.transaction(async (inner) => {
        await app.outbox.emit(inner, [noted(two), step(two, 1)]);
        throw new Error('nested failed');
      });
      await expect(nested).rejects.toThrow('nested failed');
    });
    await app.memory.waitForCount(1, 10_000);
    expect(app.memory.received.map(({ envelope }) => envelope.aggregateId)).toEqual([one]);
    expect(await stored()).toEqual([one]);
    expect(await app.database.query('select aggregateid from outbox_aggregate')).toEqual([]);
  });

  it('the same holds inside outbox.transaction without a manager', async () => {
    await app.outbox.transaction(async () => {
      await app.outbox.emit(noted(one));
      const nested = app.dataSource.transaction(async () => {
        await app.outbox.emit(noted(two));
        throw new Error('nested failed');
      });
      await expect(nested).rejects.toThrow('nested failed');
      await app.outbox.emit(noted(one));
    });
    expect(await stored()).toEqual([one, one]);
    await app.memory.waitForCount(2, 10_000);
  });

  it('an event of a nested transaction that succeeded is gone when the outer one rolls back', async () => {
    const outer = app.dataSource.transaction(async (manager) => {
      await manager.transaction((inner) => app.outbox.emit(inner, noted(one)));
      throw new Error('outer failed');
    });
    await expect(outer).rejects.toThrow('outer failed');
    expect(await stored()).toEqual([]);
    await expectNextDelivery();
  });

  it.each([
    ['dataSource.transaction', () => app.dataSource],
    ['outbox.transaction', () => app.outbox],
  ])('nobody is woken when a nested transaction of %s ends, only when the outer one commits', async (_how, opener) => {
    let inside = 0;
    const before = watch.claims;
    await opener().transaction(async (manager) => {
      await manager.transaction((inner) => app.outbox.emit(inner, noted(one)));
      // A wake-up would have been sent before this is answered.
      await manager.query('select 1');
      inside = watch.claims;
    });
    expect(inside).toBe(before);
    await watch.moreThan(before);
    await app.memory.waitForCount(1, 10_000);
  });

  it.each([
    ['a rollback', () => Promise.reject(new Error('rolled back'))],
    ['a constraint that fails at COMMIT', () => app.dataSource.query(`insert into label values ('twice'), ('twice')`)],
    ['a swallowed database error', () => app.dataSource.query('select 1 / 0').catch(() => undefined)],
  ])('nobody is woken after %s', async (_what, spoil) => {
    const before = watch.claims;
    const spoilt = app.outbox.transaction(async () => {
      await app.outbox.emit(noted(one));
      await spoil();
    });
    await expect(spoilt).rejects.toThrow();
    await app.database.query('select 1');
    expect(watch.claims).toBe(before);
    expect(await stored()).toEqual([]);
    await expectNextDelivery();
  });
});
