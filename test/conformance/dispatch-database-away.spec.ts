import { MemoryTransport } from 'nestjs-transactional-outbox/memory';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { BareDispatcher } from '../support/bare-dispatcher.js';
import { eventually } from '../support/eventually.js';
import { type OutboxQueue, type QueueStore, startOutboxQueue } from '../support/outbox-queue.js';

class ConnectionLost extends Error {
  readonly code = 'ECONNREFUSED';
}

describe('a dispatcher whose database does not answer', () => {
  let queue: OutboxQueue;
  let failures: number;
  let store: QueueStore;
  let transport: MemoryTransport;
  beforeEach(async () => {
    queue = await startOutboxQueue();
    failures = 0;
    const real = queue.openStore();
    const failing = <Args extends unknown[], Result>(method: (...args: Args) => Promise<Result>) => {
      return async (...args: Args): Promise<Result> => {
        if (failures > 0) {
          failures -= 1;
          throw new ConnectionLost('the database is away');
        }
        return method(...args);
      };
    };
    store = {
      breakers: real.breakers,
      prepare: failing((destination) => real.prepare(destination)),
      claim: failing((request) => real.claim(request)),
      renew: failing((claim, ids, leaseMs) => real.renew(claim, ids, leaseMs)),
      finalize: failing((claim, outcomes) => real.finalize(claim, outcomes)),
      finalizeAndClaim: failing((claim, outcomes, request) => real.finalizeAndClaim(claim, outcomes, request)),
      unblock: failing((ids) => real.unblock(ids)),
    };
    transport = new MemoryTransport();
    await queue.emitUnordered(3);
  });
  afterEach(() => queue.close());

  const said = (dispatcher: BareDispatcher, phrase: string): number =>
    dispatcher.logger.lines.filter((line) => line.includes(phrase)).length;

  it('says so once, however often it asks, and once more when it answers again', async () => {
    const dispatcher = new BareDispatcher({ store, transport });
    failures = 50;
    while (failures > 0) expect(await dispatcher.dispatchOnce()).toBeUndefined();
    expect(said(dispatcher, 'outbox database unavailable')).toBe(1);
    expect(await dispatcher.dispatchOnce()).toMatchObject({ delivered: 3 });
    expect(said(dispatcher, 'outbox database available again')).toBe(1);

    await queue.emitUnordered(1);
    failures = 1;
    expect(await dispatcher.dispatchOnce()).toBeUndefined();
    expect(said(dispatcher, 'outbox database unavailable')).toBe(2);
  });

  it('is not asked at once again and again when it went away just as a retry was due', async () => {
    const later = new MemoryTransport({ respond: () => ({ kind: 'defer', reason: 'later', delayMs: 20 }) });
    const dispatcher = new BareDispatcher({ store, transport: later });
    await dispatcher.drain();
    await eventually(() => expect(dispatcher.dueInMs()).toBe(0));
    failures = 1;
    expect(await dispatcher.dispatchOnce()).toBeUndefined();
    expect(dispatcher.dueInMs()).toBeUndefined();
  });

  it('writes its outcomes when it answers again, and publishes nothing twice', async () => {
    const dispatcher = new BareDispatcher({ store, transport });
    await dispatcher.dispatchOnce();
    await queue.emitUnordered(2);
    const failOnce = new MemoryTransport({
      respond: () => {
        failures = 3;
        return { kind: 'delivered' };
      },
    });
    const summary = await new BareDispatcher({ store, transport: failOnce, batchSize: 1 }).drain();
    expect(summary).toMatchObject({ delivered: 2, leaseLost: 0 });
    expect(failOnce.received).toHaveLength(2);
    expect(await queue.deliveries()).toEqual([]);
  });

  it('gives up its outcomes with its lease, and the events are delivered again', async () => {
    const dispatcher = new BareDispatcher({ store, transport, leaseMs: 1000, publishTimeoutMs: 900 });
    await dispatcher.dispatchOnce();
    await queue.emitUnordered(1);
    const cutOff = new MemoryTransport({
      respond: () => {
        failures = Number.POSITIVE_INFINITY;
        return { kind: 'delivered' };
      },
    });
    const losing = new BareDispatcher({ store, transport: cutOff, leaseMs: 1000, publishTimeoutMs: 900 });
    expect(await losing.dispatchOnce()).toMatchObject({ leaseLost: 1 });
    expect(said(losing, 'lease lost')).toBe(1);
    failures = 0;
    await queue.expireLeases();
    expect(await dispatcher.dispatchOnce()).toMatchObject({ delivered: 1, leaseLost: 0 });
  });
});
