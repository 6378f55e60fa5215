import { randomUUID } from 'node:crypto';
import { MemoryTransport } from 'nestjs-transactional-outbox/memory';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { BareDispatcher } from '../support/bare-dispatcher.js';
import { noted, step } from '../support/outbox-app.js';
import {
  eventIdsOf,
  finalization,
  idsOf,
  mustClaim,
  type OutboxQueue,
  type QueueStore,
  startOutboxQueue,
  tryClaim,
} from '../support/outbox-queue.js';

/** Claims in sevens, finishing nothing, until nothing is due. */
async function claimAll(store: QueueStore): Promise<string[]> {
  const taken: string[] = [];
  for (;;) {
    const claim = await tryClaim(store, { batchSize: 7 });
    if (claim === undefined) return taken;
    taken.push(...eventIdsOf(claim));
  }
}

describe('a claim', () => {
  let queue: OutboxQueue;
  beforeEach(async () => {
    queue = await startOutboxQueue();
  });
  afterEach(() => queue.close());

  it('never takes what another one took: four dispatchers take 200 events in sevens, 200 different ones', async () => {
    const emitted = await queue.emitUnordered(200);
    const stores = Array.from({ length: 4 }, () => queue.openStore());
    const taken = (await Promise.all(stores.map(claimAll))).flat();
    expect(taken).toHaveLength(200);
    expect(taken.toSorted()).toEqual(emitted.toSorted());
  });

  it('leaves owner, lease, token and the counted attempt behind when its transaction is over', async () => {
    const [id] = await queue.emitUnordered(1);
    const claim = await mustClaim(queue.openStore(), { owner: 'host:1' });
    expect(claim.deliveries).toMatchObject([{ attempts: 1, envelope: { id } }]);
    const rows = await queue.database.query(
      `select lease_owner, lease_version::text as token, attempts, lease_until > clock_timestamp() as leased
       from outbox_delivery`,
    );
    expect(rows).toEqual([{ lease_owner: 'host:1', token: claim.token, attempts: 1, leased: true }]);
  });

  it('gives the token of every later claim a higher number', async () => {
    const store = queue.openStore();
    await queue.emitUnordered(3);
    const tokens: bigint[] = [];
    for (let round = 0; round < 3; round += 1) tokens.push(BigInt((await mustClaim(store, { batchSize: 1 })).token));
    expect(tokens).toEqual(tokens.toSorted((a, b) => (a < b ? -1 : 1)));
    expect(new Set(tokens).size).toBe(3);
  });

  it('takes only deliveries of its own destination', async () => {
    await queue.emitUnordered(1);
    await queue.emitOrdered(randomUUID(), 1);
    const store = queue.openStore();
    await store.prepare('elsewhere');
    expect(await tryClaim(store, { destination: 'elsewhere' })).toBeUndefined();
  });

  it('takes no more payload than batchBytes, but always one event', async () => {
    const large = 'x'.repeat(5000);
    await queue.emit(...Array.from({ length: 6 }, () => Object.assign(noted(randomUUID()), { note: large })));
    const store = queue.openStore();
    expect((await mustClaim(store, { batchBytes: 12_000 })).deliveries).toHaveLength(3);
    expect((await mustClaim(store, { batchBytes: 1024 })).deliveries).toHaveLength(1);
  });

  it('gives unordered events their turn while large ordered ones fill every batch', async () => {
    const store = queue.openStore();
    const order = randomUUID();
    const large = 'x'.repeat(5000);
    await queue.emit(...Array.from({ length: 5 }, (_, index) => Object.assign(step(order, index), { note: large })));
    const [unordered] = await queue.emitUnordered(1);
    const turns: string[][] = [];
    for (let round = 0; round < 3; round += 1) {
      const claim = await mustClaim(store, { batchBytes: 1024 });
      turns.push(eventIdsOf(claim));
      await store.finalize(claim, finalization({ delivered: idsOf(claim) }));
    }
    expect(turns.flat()).toContain(unordered);
  });
});

describe('four dispatchers over one queue', () => {
  let queue: OutboxQueue;
  beforeEach(async () => {
    queue = await startOutboxQueue();
  });
  afterEach(() => queue.close());

  it('publish each of 100 events once and leave nothing undelivered', async () => {
    const emitted = await queue.emitUnordered(100);
    const transport = new MemoryTransport();
    const dispatchers = Array.from(
      { length: 4 },
      () => new BareDispatcher({ store: queue.openStore(), transport, batchSize: 7 }),
    );
    await Promise.all(dispatchers.map((dispatcher) => dispatcher.drain()));
    expect(transport.received.map(({ envelope }) => envelope.id).toSorted()).toEqual(emitted.toSorted());
    expect(await queue.database.query('select state, count(*)::int from outbox_event_status group by state')).toEqual([
      { state: 'done', count: 100 },
    ]);
  });
});
