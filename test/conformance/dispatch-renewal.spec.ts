import { randomUUID } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import type { OutgoingEvent } from 'nestjs-transactional-outbox';
import { MemoryTransport } from 'nestjs-transactional-outbox/memory';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { delivered } from '../../libs/outbox/src/transports/index.js';
import { BareDispatcher } from '../support/bare-dispatcher.js';
import { DESTINATION, type OutboxQueue, type QueueStore, startOutboxQueue } from '../support/outbox-queue.js';

const LEASE_MS = 900;
const ONE_BY_ONE = { batch: false, keepsOrderPerKey: false, deduplicates: false };

/** The same store, with some of its methods replaced. */
function replacing(store: QueueStore, methods: Partial<QueueStore>): QueueStore {
  return {
    breakers: store.breakers,
    prepare: (destination) => store.prepare(destination),
    claim: (request) => store.claim(request),
    renew: (claim, ids, leaseMs) => store.renew(claim, ids, leaseMs),
    finalize: (claim, outcomes) => store.finalize(claim, outcomes),
    finalizeAndClaim: (claim, outcomes, request) => store.finalizeAndClaim(claim, outcomes, request),
    unblock: (ids) => store.unblock(ids),
    ...methods,
  };
}

describe('while a publish runs,', () => {
  let queue: OutboxQueue;
  let store: QueueStore;
  beforeEach(async () => {
    queue = await startOutboxQueue();
    store = queue.openStore();
  });
  afterEach(() => queue.close());

  it('its lease is renewed: a batch that takes five leases is sent once, although another dispatcher looks on', async () => {
    await queue.emitOrdered(randomUUID(), 16);
    const renewed = new EventEmitter();
    const counting = replacing(store, {
      renew: async (...args) => {
        const held = await store.renew(...args);
        renewed.emit('once');
        return held;
      },
    });
    const started = new EventEmitter();
    const memory = new MemoryTransport({
      respond: async () => {
        started.emit('once');
        // Three renewals a lease, one for each of the sixteen events: more than five leases.
        await once(renewed, 'once');
        return delivered;
      },
    });
    const transport = { capabilities: ONE_BY_ONE, publish: memory.publish.bind(memory) };
    const options = { leaseMs: LEASE_MS, publishTimeoutMs: LEASE_MS - 1 };
    const sending = once(started, 'once');
    const holding = new BareDispatcher({ store: counting, transport, ...options }).drain();
    await sending;

    const onlooker = new BareDispatcher({ store: queue.openStore(), transport: new MemoryTransport(), ...options });
    let isOver = false;
    const watching = (async () => {
      let claimed = 0;
      while (!isOver) claimed += (await onlooker.drain()).claimed;
      return claimed;
    })();
    const summary = await holding;
    isOver = true;
    expect(await watching).toBe(0);
    expect(summary).toMatchObject({ delivered: 16, leaseLost: 0 });
    expect(memory.received).toHaveLength(16);
  });

  it('the finalize waits for a renewal that is on its way, so that they never lock against each other', async () => {
    await queue.emitUnordered(3);
    let renewing = 0;
    const events = new EventEmitter();
    const isRenewing = once(events, 'renewing');
    const renewingAtFinalize: number[] = [];
    const watched = replacing(store, {
      renew: async (...args) => {
        renewing += 1;
        events.emit('renewing');
        await wait(50);
        const renewed = await store.renew(...args);
        renewing -= 1;
        return renewed;
      },
      finalize: (...args) => {
        renewingAtFinalize.push(renewing);
        return store.finalize(...args);
      },
    });
    const transport = new MemoryTransport({ respond: () => isRenewing.then(() => delivered) });
    const dispatcher = new BareDispatcher({
      store: watched,
      transport,
      leaseMs: LEASE_MS,
      publishTimeoutMs: LEASE_MS - 1,
    });
    expect(await dispatcher.dispatchOnce()).toMatchObject({ delivered: 3, leaseLost: 0 });
    expect(renewingAtFinalize).toEqual([0]);
  });

  it('a renewal that hangs keeps the outcomes no longer than the lease', async () => {
    await queue.emitUnordered(1);
    const events = new EventEmitter();
    const isRenewing = once(events, 'renewing');
    const hanging = replacing(store, {
      renew: () => {
        events.emit('renewing');
        return new Promise(() => undefined);
      },
    });
    const transport = new MemoryTransport({ respond: () => isRenewing.then(() => delivered) });
    const dispatcher = new BareDispatcher({
      store: hanging,
      transport,
      leaseMs: LEASE_MS,
      publishTimeoutMs: LEASE_MS - 1,
    });
    expect(await dispatcher.dispatchOnce()).toMatchObject({ delivered: 1, leaseLost: 0 });
    expect(await queue.deliveries()).toEqual([]);
  });

  it('a lease that was taken over interrupts it, and nothing more of the batch is started', async () => {
    await queue.emitUnordered(3);
    const successor = queue.openStore();
    await successor.prepare(DESTINATION); // connected, so that it comes before the next renewal
    const started: string[] = [];
    let interrupted = 0;
    const transport = {
      capabilities: ONE_BY_ONE,
      publish: async (batch: readonly OutgoingEvent[], signal: AbortSignal) => {
        started.push(...batch.map(({ envelope }) => envelope.id));
        await queue.expireLeases();
        await new BareDispatcher({ store: successor, transport: new MemoryTransport() }).drain();
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
        interrupted += 1;
        return batch.map(() => delivered);
      },
    };
    const stale = new BareDispatcher({
      store,
      transport,
      concurrency: 1,
      leaseMs: LEASE_MS,
      publishTimeoutMs: LEASE_MS - 1,
    });
    expect(await stale.dispatchOnce()).toMatchObject({ leaseLost: 3 });
    expect([started.length, interrupted]).toEqual([1, 1]);
    expect(stale.logger.lines.filter((line) => line.startsWith('warn lease lost'))).toHaveLength(1);
  });
});
