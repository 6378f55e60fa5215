import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { noted, type OutboxApp, startOutboxApp, step } from '../support/outbox-app.js';

describe('an event and its business change', () => {
  let app: OutboxApp;
  beforeAll(async () => {
    app = await startOutboxApp();
  });
  afterAll(() => app.close());
  beforeEach(async () => {
    await app.database.query('truncate outbox_event, outbox_delivery, orders');
    app.memory.clear();
  });

  it('a committed order is delivered with its event', async () => {
    const id = randomUUID();
    await app.service.place({ id, amountCents: 700 });
    const summary = await app.dispatcher.drain();
    expect(summary).toMatchObject({ claimed: 1, delivered: 1 });
    expect(app.memory.accepted.map(({ envelope }) => envelope)).toMatchObject([
      {
        type: 'order.noted',
        aggregateType: 'order',
        aggregateId: id,
        payload: { orderId: id, amountCents: 700 },
        version: 1,
      },
    ]);
    expect(await app.database.query('select state from outbox_event_status')).toEqual([{ state: 'done' }]);
  });

  it('a rolled-back order leaves no event', async () => {
    const id = randomUUID();
    await expect(
      app.outbox.transaction(async () => {
        await app.service.place({ id, amountCents: 700 });
        throw new Error('changed my mind');
      }),
    ).rejects.toThrow('changed my mind');
    expect(await app.orders.count()).toBe(0);
    expect(await app.database.query('select * from outbox_event')).toEqual([]);
    expect(await app.database.query('select * from outbox_delivery')).toEqual([]);
  });

  it('events of one aggregate get consecutive sequence numbers and arrive in order', async () => {
    const [one, two] = [randomUUID(), randomUUID()];
    await app.dataSource.transaction(async (manager) => {
      await app.outbox.emit(manager, [step(one, 1), step(two, 1), noted(one), step(one, 2)]);
      await app.outbox.emit(manager, step(one, 3));
    });
    await app.dispatcher.drain();
    const ofOne = app.memory.accepted.filter(
      ({ envelope }) => envelope.aggregateId === one && envelope.sequence !== undefined,
    );
    expect(ofOne.map(({ envelope }) => envelope.sequence)).toEqual([1n, 2n, 3n]);
    expect(app.memory.accepted).toHaveLength(5);
  });
});
