import { randomUUID } from 'node:crypto';
import { MemoryTransport } from 'nestjs-transactional-outbox/memory';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Claim } from '../../libs/outbox/src/store/index.js';
import { delivered } from '../../libs/outbox/src/transports/index.js';
import { BareDispatcher } from '../support/bare-dispatcher.js';
import {
  finalization,
  idsOf,
  mustClaim,
  type OutboxQueue,
  type QueueStore,
  startOutboxQueue,
  tryClaim,
} from '../support/outbox-queue.js';

/** `aggregate sequence` of each event of a claim. */
const stepsOf = (claim: Claim): string[] =>
  claim.deliveries.map(({ envelope }) => `${envelope?.aggregateId} ${envelope?.sequence}`);

describe('ordered events of X (3) and Y (2)', () => {
  let queue: OutboxQueue;
  let one: QueueStore;
  let other: QueueStore;
  let x: string;
  let y: string;
  beforeEach(async () => {
    queue = await startOutboxQueue();
    [one, other] = [queue.openStore(), queue.openStore()];
    [x, y] = [randomUUID(), randomUUID()];
    await queue.emitOrdered(x, 3);
    await queue.emitOrdered(y, 2);
  });
  afterEach(() => queue.close());

  it('are in one hand per aggregate: while X is claimed, another dispatcher gets Y at most', async () => {
    const first = await mustClaim(one, { batchSize: 1 });
    const [holder] = stepsOf(first);
    const second = await tryClaim(other, { batchSize: 100 });
    const held = holder?.split(' ')[0];
    expect(second === undefined ? [] : stepsOf(second).filter((step) => step.startsWith(`${held}`))).toEqual([]);
    expect(await tryClaim(one)).toBeUndefined();
  });

  it('come in order, whole runs at once, and the next one only after the one before', async () => {
    const taken: string[] = [];
    for (let claim = await tryClaim(one, { batchSize: 1 }); claim; claim = await tryClaim(one, { batchSize: 1 })) {
      taken.push(...stepsOf(claim));
      await one.finalize(claim, finalization({ delivered: idsOf(claim) }));
    }
    expect(taken.filter((step) => step.startsWith(x))).toEqual([`${x} 1`, `${x} 2`, `${x} 3`]);
    expect(taken.filter((step) => step.startsWith(y))).toEqual([`${y} 1`, `${y} 2`]);
  });

  it('wait behind one that failed: nothing of X while its first waits for a retry, Y goes on', async () => {
    const transport = new MemoryTransport({
      respond: ({ envelope }, attempt) =>
        envelope.aggregateId === x && envelope.sequence === 1n && attempt === 1
          ? { kind: 'retry', error: 'as told' }
          : delivered,
    });
    const dispatcher = new BareDispatcher({ store: one, transport, retryBaseMs: 3_600_000, retryCapMs: 3_600_000 });
    await dispatcher.drain();
    const received = (): string[] =>
      transport.received.map(({ envelope }) => `${envelope.aggregateId} ${envelope.sequence}`);
    expect(received().filter((step) => step.startsWith(x))).toEqual([`${x} 1`]);
    expect(received().filter((step) => step.startsWith(y))).toEqual([`${y} 1`, `${y} 2`]);
    expect(await tryClaim(other)).toBeUndefined();
    expect((await queue.deliveries()).map(({ attempts }) => attempts)).toEqual([1, 0, 0]);

    await queue.makeDue();
    await dispatcher.drain();
    expect(received().filter((step) => step.startsWith(x))).toEqual([`${x} 1`, `${x} 1`, `${x} 2`, `${x} 3`]);
  });
});

describe('thirty ordered events of one aggregate and four dispatchers', () => {
  let queue: OutboxQueue;
  beforeEach(async () => {
    queue = await startOutboxQueue({ outbox: { completion: 'keep' } });
  });
  afterEach(() => queue.close());

  it('are published one at a time and finalized in the order of their sequence', async () => {
    const aggregate = randomUUID();
    await queue.emitOrdered(aggregate, 30);
    let atOnce = 0;
    let mostAtOnce = 0;
    const transport = new MemoryTransport({
      respond: async () => {
        atOnce += 1;
        mostAtOnce = Math.max(mostAtOnce, atOnce);
        await new Promise(setImmediate);
        atOnce -= 1;
        return delivered;
      },
    });
    const dispatchers = Array.from(
      { length: 4 },
      () => new BareDispatcher({ store: queue.openStore(), transport, batchSize: 1 }),
    );
    const drainUntilDone = async (dispatcher: BareDispatcher): Promise<void> => {
      while (transport.accepted.length < 30) await dispatcher.drain();
    };
    await Promise.all(dispatchers.map(drainUntilDone));

    const inOrder = Array.from({ length: 30 }, (_, index) => BigInt(index + 1));
    expect(transport.received.map(({ envelope }) => envelope.sequence)).toEqual(inOrder);
    expect(mostAtOnce).toBe(1);
    const finalized = await queue.database.query<{ sequence: string }>(
      `select e.sequence::text from outbox_delivery d join outbox_event e on e.id = d.event_id
       order by d.done_at, d.id`,
    );
    expect(finalized.map(({ sequence }) => BigInt(sequence))).toEqual(inOrder);
    const owners = await queue.database.query('select distinct lease_version from outbox_delivery');
    expect(owners).toHaveLength(30);
  });
});
