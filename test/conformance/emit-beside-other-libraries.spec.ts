import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { getDataSourceToken, InjectRepository } from '@nestjs/typeorm';
import {
  ClsPluginTransactional,
  Transactional as ClsTransactional,
  Propagation,
  TransactionHost,
} from '@nestjs-cls/transactional';
import { TransactionalAdapterTypeOrm } from '@nestjs-cls/transactional-adapter-typeorm';
import { ClsModule } from 'nestjs-cls';
import { EmitsEvent, OutboxService } from 'nestjs-transactional-outbox';
import { DataSource, type EntityManager, Repository } from 'typeorm';
import {
  addTransactionalDataSource,
  deleteDataSourceByName,
  initializeTransactionalContext,
  runInTransaction,
  Transactional,
} from 'typeorm-transactional';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { noted, Order, OrderNoted, type OutboxApp, startOutboxApp } from '../support/outbox-app.js';

const order = (): Order => Object.assign(new Order(), { id: randomUUID(), amountCents: 100 });
const fields = ({ id, amountCents }: Order): { orderId: string; amountCents: number } => ({ orderId: id, amountCents });

/** What is there after everything, seen from outside. */
async function stored(app: OutboxApp): Promise<{ orders: number; events: number }> {
  const [row] = await app.database.query<{ orders: number; events: number }>(
    'select (select count(*) from orders)::int as orders, (select count(*) from outbox_event)::int as events',
  );
  return row ?? { orders: -1, events: -1 };
}

describe('beside typeorm-transactional', () => {
  @Injectable()
  class Shop {
    constructor(
      @InjectRepository(Order) private readonly orders: Repository<Order>,
      private readonly outbox: OutboxService,
    ) {}

    @Transactional()
    @EmitsEvent(OrderNoted, fields)
    place(one: Order): Promise<Order> {
      return this.orders.save(one);
    }

    @Transactional()
    async placeAndThrow(one: Order): Promise<void> {
      await this.place(one);
      throw new Error('after all');
    }

    @Transactional()
    async placeByHand(one: Order): Promise<void> {
      await this.orders.save(one);
      await this.outbox.emit(noted(one.id));
    }

    @EmitsEvent(OrderNoted, fields)
    async placeAround(one: Order, fails: boolean): Promise<Order> {
      await runInTransaction(() => this.orders.save(one));
      if (fails) throw new Error('after all');
      return one;
    }
  }

  let app: OutboxApp;
  beforeAll(() => initializeTransactionalContext());
  const start = async (): Promise<Shop> => {
    app = await startOutboxApp({
      providers: [Shop],
      outbox: { currentManager: (dataSource) => dataSource.manager },
    });
    addTransactionalDataSource(app.module.get<DataSource>(getDataSourceToken()));
    return app.module.get(Shop);
  };
  afterEach(async () => {
    deleteDataSourceByName('default');
    await app.close();
  });

  it('a decorated method joins its transaction', async () => {
    const shop = await start();
    await shop.place(order());
    expect(await stored(app)).toEqual({ orders: 1, events: 1 });
    await expect(shop.placeAndThrow(order())).rejects.toThrow('after all');
    expect(await stored(app)).toEqual({ orders: 1, events: 1 });
  });

  it('emit(event) joins its transaction, and is refused outside', async () => {
    const shop = await start();
    await shop.placeByHand(order());
    expect(await stored(app)).toEqual({ orders: 1, events: 1 });
    await expect(app.outbox.emit(noted(randomUUID()))).rejects.toThrow('no transaction');
  });

  it('its transaction inside a decorated method is part of ours', async () => {
    const shop = await start();
    await shop.placeAround(order(), false);
    expect(await stored(app)).toEqual({ orders: 1, events: 1 });
    await expect(shop.placeAround(order(), true)).rejects.toThrow('after all');
    expect(await stored(app)).toEqual({ orders: 1, events: 1 });
  });
});

describe('beside nestjs-cls', () => {
  type Host = TransactionHost<TransactionalAdapterTypeOrm>;

  @Injectable()
  class Shop {
    constructor(
      private readonly host: TransactionHost<TransactionalAdapterTypeOrm>,
      @InjectRepository(Order) private readonly orders: Repository<Order>,
      private readonly outbox: OutboxService,
    ) {}

    @ClsTransactional()
    @EmitsEvent(OrderNoted, fields)
    place(one: Order): Promise<Order> {
      // Inside a decorated method injected repositories take part in the transaction of nestjs-cls too.
      return this.orders.save(one);
    }

    @ClsTransactional()
    async placeAndThrow(one: Order): Promise<void> {
      await this.place(one);
      throw new Error('after all');
    }

    @ClsTransactional()
    async placeByHand(one: Order): Promise<void> {
      await this.host.tx.save(one);
      await this.outbox.emit(noted(one.id));
    }

    @EmitsEvent(OrderNoted, fields)
    async placeAround(one: Order, fails: boolean): Promise<Order> {
      await this.host.withTransaction(Propagation.Required, () => this.host.tx.save(one));
      if (fails) throw new Error('after all');
      return one;
    }
  }

  let app: OutboxApp;
  const start = async (): Promise<Shop> => {
    app = await startOutboxApp({
      providers: [Shop],
      imports: [
        ClsModule.forRoot({
          plugins: [
            new ClsPluginTransactional({
              adapter: new TransactionalAdapterTypeOrm({ dataSourceToken: getDataSourceToken() }),
            }),
          ],
        }),
      ],
      outbox: {
        currentManager: (): EntityManager | undefined => {
          const host: Host = TransactionHost.getInstance();
          return host.isTransactionActive() ? host.tx : undefined;
        },
      },
    });
    return app.module.get(Shop);
  };
  afterEach(() => app.close());

  it('a decorated method joins its transaction', async () => {
    const shop = await start();
    await shop.place(order());
    expect(await stored(app)).toEqual({ orders: 1, events: 1 });
    await expect(shop.placeAndThrow(order())).rejects.toThrow('after all');
    expect(await stored(app)).toEqual({ orders: 1, events: 1 });
  });

  it('emit(event) joins its transaction, and is refused outside', async () => {
    const shop = await start();
    await shop.placeByHand(order());
    expect(await stored(app)).toEqual({ orders: 1, events: 1 });
    await expect(app.outbox.emit(noted(randomUUID()))).rejects.toThrow('no transaction');
  });

  it('its transaction inside a decorated method is part of ours', async () => {
    const shop = await start();
    await shop.placeAround(order(), false);
    expect(await stored(app)).toEqual({ orders: 1, events: 1 });
    await expect(shop.placeAround(order(), true)).rejects.toThrow('after all');
    expect(await stored(app)).toEqual({ orders: 1, events: 1 });
  });
});
