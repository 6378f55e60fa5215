import { randomUUID } from 'node:crypto';
import type { OnDead, PublishOutcome, Transport } from 'nestjs-transactional-outbox';
import { MemoryTransport } from 'nestjs-transactional-outbox/memory';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { delivered } from '../../libs/outbox/src/transports/index.js';
import { BareDispatcher } from '../support/bare-dispatcher.js';
import {
  finalization,
  mustClaim,
  type OutboxQueue,
  type QueueStore,
  startOutboxQueue,
  tryClaim,
} from '../support/outbox-queue.js';

describe('the followers of an ordered event that became a dead letter', () => {
  let queue: OutboxQueue;
  let store: QueueStore;
  let aggregate: string;
  let answer: (sequence: bigint | undefined) => PublishOutcome;
  let transport: MemoryTransport;
  beforeEach(async () => {
    queue = await startOutboxQueue();
    store = queue.openStore();
    aggregate = randomUUID();
    answer = () => delivered;
    transport = new MemoryTransport({ respond: ({ envelope }) => answer(envelope.sequence) });
  });
  afterEach(() => queue.close());

  const drain = (onDead: OnDead, given: Transport = transport): Promise<unknown> =>
    new BareDispatcher({ store, transport: given, onDead, maxAttempts: 2 }).drain();
  const received = (): (bigint | undefined)[] => transport.received.map(({ envelope }) => envelope.sequence);
  const firstIsRefused = (sequence: bigint | undefined): PublishOutcome =>
    sequence === 1n ? { kind: 'dead', error: 'as told' } : delivered;
  /** Claims like a dispatcher that dies before every outcome, until the attempts are spent. */
  const crashTwice = async (): Promise<void> => {
    for (let attempt = 1; attempt <= 2; attempt += 1) {
      await mustClaim(store, { maxAttempts: 2, batchSize: 1 });
      await queue.expireLeases();
    }
  };

  it('wait for a person with onDead "block", while other aggregates go on', async () => {
    answer = firstIsRefused;
    await queue.emitOrdered(aggregate, 3);
    await drain('block');
    expect(received()).toEqual([1n]);
    expect(await queue.deliveries()).toMatchObject([
      { status: 1, holdsKey: true },
      { status: 0, attempts: 0, hasLease: false },
      { status: 0, attempts: 0, hasLease: false },
    ]);

    answer = () => delivered;
    await queue.emitOrdered(randomUUID(), 2);
    await drain('block');
    expect(received()).toEqual([1n, 1n, 2n]);
  });

  it('pass with onDead "skip"', async () => {
    answer = firstIsRefused;
    await queue.emitOrdered(aggregate, 3);
    await drain('skip');
    expect(received()).toEqual([1n, 2n, 3n]);
    expect(await queue.deliveries()).toMatchObject([{ status: 1, holdsKey: false }]);
  });

  it('wait with "block" also when it was reaped, the ones emitted after its last attempt included', async () => {
    await queue.emitOrdered(aggregate, 1);
    await crashTwice();
    await queue.emitOrdered(aggregate, 2);
    await drain('block');
    expect(received()).toEqual([]);
    expect(await queue.deliveries()).toMatchObject([
      { status: 1, holdsKey: true },
      { status: 0, attempts: 0 },
      { status: 0, attempts: 0 },
    ]);
  });

  it('pass with "skip" also when it was reaped', async () => {
    await queue.emitOrdered(aggregate, 1);
    await crashTwice();
    await queue.emitOrdered(aggregate, 2);
    await drain('skip');
    expect(received()).toEqual([2n, 3n]);
    expect(await queue.deliveries()).toMatchObject([{ status: 1, holdsKey: false }]);
  });

  it('are no dead letters themselves when they were in the same claim each time', async () => {
    await queue.emitOrdered(aggregate, 3);
    for (let attempt = 1; attempt <= 2; attempt += 1) {
      await mustClaim(store, { maxAttempts: 2 });
      await queue.expireLeases();
    }
    const reaping = await mustClaim(store, { maxAttempts: 2 });
    expect(reaping.reaped).toHaveLength(1);
    expect(reaping.deliveries).toEqual([]);
    await store.finalize(reaping, finalization({}));
    expect(await tryClaim(store, { maxAttempts: 2 })).toBeUndefined();
    expect((await queue.deliveries()).map(({ status }) => status)).toEqual([1, 0, 0]);
  });

  it('wait when it cannot be read from the log', async () => {
    const [first] = await queue.emitOrdered(aggregate, 3);
    await queue.database.query('delete from outbox_event where id = $1', [first]);
    await drain('block');
    expect(received()).toEqual([]);
    expect(await queue.deliveries()).toMatchObject([
      { status: 1, holdsKey: true },
      { status: 0, attempts: 0, hasLease: false },
      { status: 0, attempts: 0, hasLease: false },
    ]);
  });

  it('are released, not held forever, when a transport tried them although the one before had failed', async () => {
    await queue.emitOrdered(aggregate, 3);
    const careless: Transport = {
      capabilities: { batch: true, keepsOrderPerKey: true, deduplicates: false },
      publish: async (batch) => batch.map((_, index) => (index === 1 ? delivered : { kind: 'dead', error: 'no' })),
    };
    await new BareDispatcher({ store, transport: careless }).dispatchOnce();
    expect(await queue.deliveries()).toMatchObject([
      { status: 1, holdsKey: true },
      { status: 0, holdsKey: false },
    ]);
  });
});
