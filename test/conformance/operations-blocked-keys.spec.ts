import { randomUUID } from 'node:crypto';
import { BlockedKeyService, DeadLetterService } from 'nestjs-transactional-outbox';
import { MemoryTransport } from 'nestjs-transactional-outbox/memory';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { byHand } from '../support/by-hand.js';
import { type OutboxApp, startOutboxApp, step } from '../support/outbox-app.js';

const HOUR_MS = 3_600_000;

describe('an aggregate that is held back', () => {
  let app: OutboxApp;
  let answers: Map<string, 'dead' | 'retry'>;
  beforeEach(async () => {
    answers = new Map();
    const memory = new MemoryTransport({
      respond: ({ envelope }) => {
        const kind = envelope.sequence === 1n ? answers.get(envelope.aggregateId) : undefined;
        return kind === undefined ? { kind: 'delivered' } : { kind, error: 'as told' };
      },
    });
    app = await startOutboxApp({
      memory,
      outbox: { destinations: { memory: { transport: memory, retryBaseMs: HOUR_MS, retryCapMs: HOUR_MS } } },
    });
  });
  afterEach(() => app.close());

  const placed = async (order: string): Promise<void> => {
    await app.outbox.transaction(() => app.outbox.emit([step(order, 1), step(order, 2), step(order, 3)]));
    await app.dispatcher.drain();
  };
  const blocked = (): BlockedKeyService => app.module.get(BlockedKeyService);
  const accepted = (order: string): unknown[] =>
    app.memory.accepted
      .filter(({ envelope }) => envelope.aggregateId === order)
      .map(({ envelope }) => envelope.sequence);

  it('is listed with what it waits for and how many wait', async () => {
    const [dead, waiting, fine] = [randomUUID(), randomUUID(), randomUUID()];
    answers.set(dead, 'dead').set(waiting, 'retry');
    for (const order of [dead, waiting, fine]) await placed(order);
    expect(await blocked().list()).toMatchObject([
      {
        destination: 'memory',
        aggregateType: 'order',
        aggregateId: dead,
        followers: 2,
        heldBy: { state: 'dead', type: 'order.step', error: 'as told' },
      },
      { aggregateId: waiting, followers: 2, heldBy: { state: 'waiting' } },
    ]);
    expect(await blocked().list({ aggregateId: waiting })).toHaveLength(1);
    expect(accepted(fine)).toEqual([1n, 2n, 3n]);
  });

  it('goes on in order when its dead letter is passed over, which stays a dead letter', async () => {
    const [order, other] = [randomUUID(), randomUUID()];
    answers.set(order, 'dead').set(other, 'dead');
    await placed(order);
    await placed(other);
    expect(await blocked().release({ aggregateType: 'order', aggregateId: order }, byHand)).toBe(1);
    await app.dispatcher.drain();
    expect(accepted(order)).toEqual([2n, 3n]);
    expect(accepted(other)).toEqual([]);
    expect(await app.module.get(DeadLetterService).list()).toHaveLength(2);
    expect(await blocked().list()).toMatchObject([{ aggregateId: other }]);
  });

  it('keeps its place while its first event waits for the next attempt', async () => {
    const order = randomUUID();
    answers.set(order, 'retry');
    await placed(order);
    expect(await blocked().release({ aggregateId: order }, byHand)).toBe(0);
    await app.dispatcher.drain();
    expect(accepted(order)).toEqual([]);
  });

  it('is not released by an empty filter', async () => {
    await expect(blocked().release({}, byHand)).rejects.toThrow('empty filter');
  });
});
