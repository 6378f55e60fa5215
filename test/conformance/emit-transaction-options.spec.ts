import { randomUUID } from 'node:crypto';
import { ConfigurationError } from 'nestjs-transactional-outbox';
import { MemoryTransport } from 'nestjs-transactional-outbox/memory';
import type { EntitySubscriberInterface } from 'typeorm';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { noted, type OutboxApp, startOutboxApp } from '../support/outbox-app.js';

describe('outbox.transaction', () => {
  let app: OutboxApp;
  const memory: MemoryTransport = new MemoryTransport({
    async respond({ envelope }) {
      // What a transport does with the application's repositories is no part of anybody's transaction.
      await app.orders.insert({ id: envelope.aggregateId, amountCents: 1 });
      return { kind: 'delivered' };
    },
  });
  beforeAll(async () => {
    app = await startOutboxApp({ memory });
  });
  afterAll(() => app.close());
  beforeEach(() => app.database.query('truncate outbox_event, outbox_delivery, orders'));

  const isolationOf = async (): Promise<unknown> =>
    (await app.dataSource.query<{ transaction_isolation: string }[]>('show transaction_isolation'))[0]
      ?.transaction_isolation;

  it.each(['READ COMMITTED', 'REPEATABLE READ', 'SERIALIZABLE'] as const)(
    'runs at the isolation level asked for: %s',
    async (isolation) => {
      expect(await app.outbox.transaction(isolationOf, { isolation })).toBe(isolation.toLowerCase());
    },
  );

  it('inside another transaction refuses an isolation level, which PostgreSQL could not give it any more', async () => {
    const nested = app.outbox.transaction(async () => {
      await app.outbox.emit(noted(randomUUID()));
      await app.outbox.transaction(isolationOf, { isolation: 'SERIALIZABLE' });
    });
    await expect(nested).rejects.toThrow(ConfigurationError);
    await expect(nested).rejects.toThrow('isolation SERIALIZABLE');
    expect(await app.database.query('select id from outbox_event')).toEqual([]);
  });

  it('gives back what its work gives, and the very error that its work throws', async () => {
    const [result, failure] = [{ a: 1 }, new Error('no')];
    expect(await app.outbox.transaction(async () => result)).toBe(result);
    const thrown = await app.outbox
      .transaction(() => {
        throw failure;
      })
      .catch((error: unknown) => error);
    expect(thrown).toBe(failure);
  });

  it('is not what a dispatch runs in that is asked for inside it', async () => {
    const id = randomUUID();
    await app.outbox.transaction(() => app.outbox.emit(noted(id)));
    const transaction = app.outbox.transaction(async () => {
      await app.dispatcher.drain();
      throw new Error('rolled back');
    });
    await expect(transaction).rejects.toThrow('rolled back');
    expect(await app.database.query('select id from orders')).toEqual([{ id }]);
    expect(await app.database.query('select id from outbox_delivery')).toEqual([]);
  });

  it.each(['beforeTransactionCommit', 'afterTransactionCommit'] as const)(
    "an application's own subscriber that throws in %s is heard, and its event is stored or not as PostgreSQL decided",
    async (hook) => {
      const subscriber: EntitySubscriberInterface = {
        [hook]: () => {
          throw new Error('subscriber failed');
        },
      };
      app.dataSource.subscribers.unshift(subscriber);
      try {
        const transaction = app.outbox.transaction(() => app.outbox.emit(noted(randomUUID())));
        await expect(transaction).rejects.toThrow('subscriber failed');
      } finally {
        app.dataSource.subscribers.splice(app.dataSource.subscribers.indexOf(subscriber), 1);
      }
      const summary = await app.dispatcher.drain();
      expect(summary.delivered).toBe(hook === 'afterTransactionCommit' ? 1 : 0);
    },
  );

  it('goes on after the DataSource was ended and begun again', async () => {
    await app.dataSource.destroy();
    await app.dataSource.initialize();
    await expect(
      app.outbox.transaction(async () => {
        await app.outbox.emit(noted(randomUUID()));
        await app.dataSource.query('select 1 / 0').catch(() => undefined);
      }),
    ).rejects.toThrow('swallowed');
    await app.outbox.transaction(() => app.outbox.emit(noted(randomUUID())));
    expect(await app.database.query('select id from outbox_event')).toHaveLength(1);
  });
});
