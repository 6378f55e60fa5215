import { Injectable } from '@nestjs/common';
import { EmitsEvent, EventNotStoredError, UnserializablePayloadError } from 'nestjs-transactional-outbox';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { noted, Order, OrderNoted, OrderStep, type OutboxApp, startOutboxApp, step } from '../support/outbox-app.js';

const ONE = '00000000-0000-7000-8000-000000000001';

interface Steps {
  /** Runs after the order was saved; what it gives is the result. */
  readonly finish: () => unknown;
  readonly map?: () => unknown;
}

@Injectable()
class Failing {
  app: OutboxApp;

  @EmitsEvent(OrderNoted, (_result: unknown, { map }: Steps) =>
    map === undefined ? noted(ONE) : (map() as OrderNoted),
  )
  async place({ finish }: Steps): Promise<unknown> {
    await this.app.orders.save({ id: ONE, amountCents: 1 });
    return finish();
  }

  @EmitsEvent(OrderStep, () => step(ONE, 1))
  @EmitsEvent(OrderNoted, (_result: unknown, { map }: Steps) => map?.() as OrderNoted)
  async twice(_steps: Steps): Promise<void> {
    await this.app.orders.save({ id: ONE, amountCents: 1 });
  }

  // A method that returns no promise is refused by the types; from JavaScript it gets here.
  @EmitsEvent(OrderNoted, () => noted(ONE))
  synchronous(work: () => unknown): Promise<unknown> {
    return work() as Promise<unknown>;
  }
}

function throwing(thrown: unknown): () => never {
  return () => {
    throw thrown;
  };
}

describe('a method with @EmitsEvent that fails', () => {
  let app: OutboxApp;
  let service: Failing;
  beforeAll(async () => {
    app = await startOutboxApp({ providers: [Failing], poolSize: 1 });
    service = app.module.get(Failing);
    service.app = app;
  });
  afterAll(() => app.close());
  beforeEach(() => app.database.query('truncate outbox_event, outbox_delivery, outbox_aggregate, orders'));

  const stored = async (): Promise<unknown> => {
    const [row] = await app.database.query(
      'select (select count(*)::int from orders) as orders, (select count(*)::int from outbox_event) as events, (select count(*)::int from outbox_delivery) as deliveries',
    );
    return row;
  };
  const nothing = { orders: 0, events: 0, deliveries: 0 };

  /** What the call is rejected with, itself and not a description of it. */
  const thrownBy = (call: Promise<unknown>): Promise<unknown> =>
    call.then(
      () => {
        throw new Error('the call succeeded');
      },
      (thrown: unknown) => thrown,
    );

  it.each<readonly [string, unknown]>([
    ['an error', new Error('no stock')],
    ['a frozen error', Object.freeze(new Error('no stock'))],
    ['text', 'no stock'],
    ['undefined', undefined],
    ['an object without a prototype', Object.create(null)],
  ])('%s that the method rejects with reaches the caller itself, and nothing is stored', async (_what, error) => {
    expect(await thrownBy(service.place({ finish: () => Promise.reject(error) }))).toBe(error);
    expect(await stored()).toEqual(nothing);
  });

  it('an error thrown before the first await becomes a rejection with the same object', async () => {
    const error = new Error('synchronously');
    let call: Promise<unknown> | undefined;
    expect(() => {
      call = service.synchronous(throwing(error));
    }).not.toThrow();
    expect(await thrownBy(Promise.resolve(call))).toBe(error);
    expect(await stored()).toEqual(nothing);
  });

  it('an error of the mapping reaches the caller itself, and the business change is rolled back too', async () => {
    const error = new Error('in the mapping');
    expect(await thrownBy(service.place({ finish: () => 'done', map: throwing(error) }))).toBe(error);
    expect(await stored()).toEqual(nothing);
  });

  it('when the second of two mappings fails, the event of the first is not stored either', async () => {
    const error = new Error('in the second mapping');
    expect(await thrownBy(service.twice({ finish: () => 'done', map: throwing(error) }))).toBe(error);
    expect(await stored()).toEqual(nothing);
  });

  it('an event that is refused rolls the business change back', async () => {
    const map = (): object => Object.assign(noted(ONE), { total: 1n });
    await expect(service.place({ finish: () => 'done', map })).rejects.toThrow(UnserializablePayloadError);
    expect(await stored()).toEqual(nothing);
  });

  it('an event that PostgreSQL refuses rolls the business change back, with one typed error', async () => {
    await app.database.query('alter table outbox_event add constraint none check (false)');
    try {
      const error = await thrownBy(service.place({ finish: () => 'done' }));
      expect(error).toBeInstanceOf(EventNotStoredError);
      expect(error).toMatchObject({ code: 'OUTBOX_EVENT_NOT_STORED', retryable: false, cause: { code: '23514' } });
      expect(await stored()).toEqual(nothing);
    } finally {
      await app.database.query('alter table outbox_event drop constraint none');
    }
  });

  it('a result without a promise is awaited like any other: the event is stored and the call gives a promise', async () => {
    const call = service.synchronous(() => 'plain');
    expect(call).toBeInstanceOf(Promise);
    expect(await call).toBe('plain');
    expect(await stored()).toEqual({ orders: 0, events: 1, deliveries: 1 });
  });

  it('after every kind of failure the only connection of the pool is free and the next call works', async () => {
    for (const thrown of [new Error('no stock'), undefined]) {
      await thrownBy(service.place({ finish: throwing(thrown) }));
      await thrownBy(service.place({ finish: () => 'done', map: throwing(thrown) }));
    }
    expect(await service.place({ finish: () => 'done' })).toBe('done');
    expect(await app.dataSource.getRepository(Order).count()).toBe(1);
    expect(await stored()).toEqual({ orders: 1, events: 1, deliveries: 1 });
  });
});
