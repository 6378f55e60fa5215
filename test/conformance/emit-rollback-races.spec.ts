import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { EmitsEvent, OutboxService } from 'nestjs-transactional-outbox';
import { DataSource, type EntityManager } from 'typeorm';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { noted, Order, OrderNoted, type OutboxApp, startOutboxApp, step } from '../support/outbox-app.js';

const RACES = 60;
const LINKS = 6;

/** Work that goes on, link by link, although nobody awaits it. */
async function chain(link: () => Promise<unknown>): Promise<void> {
  for (let done = 0; done < LINKS; done += 1) await link();
}

/** Whatever was started without being awaited, to be waited for before anything is counted. */
const started: Promise<unknown>[] = [];
const fireAndForget = (work: Promise<unknown>): void => void started.push(work.catch(() => undefined));

@Injectable()
class CarelessService {
  constructor(
    private readonly dataSource: DataSource,
    private readonly outbox: OutboxService,
  ) {}

  @EmitsEvent(OrderNoted, (id: string) => ({ orderId: id, amountCents: 1 }))
  async place(id: string): Promise<string> {
    fireAndForget(chain(() => this.outbox.emit([noted(id), step(id, 1)])));
    fireAndForget(chain(() => this.dataSource.getRepository(Order).insert({ id: randomUUID(), amountCents: 1 })));
    await this.dataSource.query('select 1');
    throw new Error('rolled back');
  }

  @EmitsEvent(OrderNoted, (id: string) => ({ orderId: id, amountCents: 1 }))
  async placeAndGoOn(id: string): Promise<string> {
    fireAndForget(chain(() => this.dataSource.getRepository(Order).insert({ id: randomUUID(), amountCents: 1 })));
    fireAndForget(chain(() => this.outbox.emit(noted(id))));
    return id;
  }
}

describe(`${RACES} transactions that roll back while work goes on which nobody awaits`, () => {
  let app: OutboxApp;
  let careless: CarelessService;
  beforeAll(async () => {
    app = await startOutboxApp({ poolSize: 5, providers: [CarelessService] });
    careless = app.module.get(CarelessService);
  });
  afterAll(() => app.close());
  beforeEach(async () => {
    await app.database.query('truncate outbox_event, outbox_delivery, outbox_aggregate, orders');
    app.memory.clear();
    started.length = 0;
  });

  async function race(transaction: () => Promise<unknown>): Promise<void> {
    for (let run = 0; run < RACES; run += 1) {
      await expect(transaction()).rejects.toThrow('rolled back');
    }
    await Promise.all(started);
  }

  async function expectNothingStored(): Promise<void> {
    await app.dispatcher.drain();
    expect(app.memory.received).toEqual([]);
    expect(
      await app.database.query(`select
        (select count(*)::int from orders) as orders, (select count(*)::int from outbox_event) as events,
        (select count(*)::int from outbox_delivery) as deliveries, (select count(*)::int from outbox_aggregate) as aggregates`),
    ).toEqual([{ orders: 0, events: 0, deliveries: 0, aggregates: 0 }]);
    expect(started.length).toBeGreaterThanOrEqual(RACES);
  }

  it('dataSource.transaction leaves no event of emit(manager, event)', async () => {
    await race(() =>
      app.dataSource.transaction(async (manager: EntityManager) => {
        fireAndForget(chain(() => app.outbox.emit(manager, noted(randomUUID()))));
        await manager.query('select 1');
        throw new Error('rolled back');
      }),
    );
    await expectNothingStored();
  });

  it('dataSource.transaction leaves no ordered event and no counter', async () => {
    await race(() =>
      app.dataSource.transaction(async (manager: EntityManager) => {
        fireAndForget(chain(() => app.outbox.emit(manager, step(randomUUID(), 1))));
        await manager.query('select 1');
        throw new Error('rolled back');
      }),
    );
    await expectNothingStored();
  });

  it('outbox.transaction leaves neither event nor order', async () => {
    await race(() =>
      app.outbox.transaction(async () => {
        fireAndForget(chain(() => app.outbox.emit(noted(randomUUID()))));
        fireAndForget(chain(() => app.orders.insert({ id: randomUUID(), amountCents: 1 })));
        await app.dataSource.query('select 1');
        throw new Error('rolled back');
      }),
    );
    await expectNothingStored();
  });

  it('@EmitsEvent leaves neither event nor order', async () => {
    await race(() => careless.place(randomUUID()));
    await expectNothingStored();
  });

  it('a decorated method that joined leaves nothing behind the transaction around it', async () => {
    await race(() =>
      app.outbox.transaction(async () => {
        await careless.placeAndGoOn(randomUUID());
        await app.dataSource.query('select 1');
        throw new Error('rolled back');
      }),
    );
    await expectNothingStored();
  });

  it('a decorated method that joined dataSource.transaction leaves no event', async () => {
    await race(() =>
      app.dataSource.transaction(async (manager) => {
        fireAndForget(chain(() => app.outbox.transaction(() => app.outbox.emit(manager, noted(randomUUID())))));
        await manager.query('select 1');
        throw new Error('rolled back');
      }),
    );
    await expectNothingStored();
  });

  it('a statement of a stranger on the same connection is not joined', async () => {
    const only = await startOutboxApp({ database: app.database, poolSize: 1 });
    try {
      const late: Promise<unknown>[] = [];
      for (let run = 0; run < 20; run += 1) {
        await only.dataSource
          .transaction(async (manager) => {
            late.push(chain(() => only.outbox.emit(manager, noted(randomUUID()))).catch(() => 'refused'));
            throw new Error('rolled back');
          })
          .catch(() => undefined);
        await only.dataSource.transaction((manager) => manager.query('select 1'));
      }
      expect(await Promise.all(late)).toEqual(Array.from({ length: 20 }, () => 'refused'));
    } finally {
      await only.close();
    }
    expect(await app.database.query('select id from outbox_event')).toEqual([]);
  });
});
