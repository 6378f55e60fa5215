import { randomUUID } from 'node:crypto';
import { InboxModule, InboxService, type OutgoingEvent, type PublishOutcome } from 'nestjs-transactional-outbox';
import { MemoryTransport } from 'nestjs-transactional-outbox/memory';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { eventually } from '../support/eventually.js';
import { OrderNoted, OrderStep, type OutboxApp, startOutboxApp, step } from '../support/outbox-app.js';

describe('a send of a dispatcher that lost its lease', () => {
  let stale: OutboxApp;
  let successor: OutboxApp;
  let letGo: () => void;
  let isStuck: Promise<void>;
  /** Sequences in the order in which the consumer applied them, and how often each arrived. */
  let applied: unknown[];
  let arrivals: unknown[];

  const consume = async ({ envelope }: OutgoingEvent): Promise<PublishOutcome> => {
    arrivals.push(envelope.sequence);
    const { id, type, payload } = envelope;
    const { outcome } = await stale.module
      .get(InboxService)
      .process(
        { consumer: 'shipping', event: { id, type, payload } },
        async () => void applied.push(envelope.sequence),
      );
    return { kind: 'delivered', duplicate: outcome === 'duplicate' };
  };

  beforeEach(async () => {
    applied = [];
    arrivals = [];
    let noteStuck: () => void = () => undefined;
    isStuck = new Promise((resolve) => {
      noteStuck = resolve;
    });
    const released = new Promise<void>((resolve) => {
      letGo = resolve;
    });
    // The first send of the stale dispatcher is on its way for longer than its lease, and cannot be called back.
    const late = new MemoryTransport({
      respond: async (event) => {
        noteStuck();
        await released;
        return consume(event);
      },
    });
    const options = (transport: MemoryTransport) => ({
      destinations: { shipping: { transport, leaseMs: 60_000, publishTimeoutMs: 50_000 } },
      routes: [{ events: [OrderStep, OrderNoted], to: ['shipping'] }],
    });
    stale = await startOutboxApp({
      outbox: options(late),
      imports: [InboxModule.forRoot({ allowUnsigned: true, migrate: 'auto' })],
    });
    successor = await startOutboxApp({
      database: stale.database,
      outbox: options(new MemoryTransport({ respond: consume })),
    });
  });
  afterEach(async () => {
    await successor.close();
    await stale.close();
  });

  it('cannot make a consumer with an inbox apply events out of order, or twice', async () => {
    const order = randomUUID();
    await stale.outbox.transaction(() => stale.outbox.emit([step(order, 1), step(order, 2), step(order, 3)]));
    const overtaken = stale.dispatcher.dispatchOnce();
    await isStuck;
    for (const table of ['outbox_delivery', 'outbox_lane']) {
      await stale.database.query(
        `update ${table} set lease_until = now() - interval '1 second' where lease_until is not null`,
      );
    }
    await eventually(async () => {
      await successor.dispatcher.drain();
      expect(applied).toEqual([1n, 2n, 3n]);
    });
    letGo();
    expect(await overtaken).toMatchObject({ claimed: 3, leaseLost: 3 });
    expect(arrivals.slice(0, 4)).toEqual([1n, 2n, 3n, 1n]);
    expect(applied).toEqual([1n, 2n, 3n]);
    expect(await stale.database.query('select id from outbox_delivery')).toEqual([]);
  });
});
