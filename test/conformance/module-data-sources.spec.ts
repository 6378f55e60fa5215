import { randomUUID } from 'node:crypto';
import { Injectable, type Type } from '@nestjs/common';
import type { TestingModule } from '@nestjs/testing';
import { getDataSourceToken, InjectDataSource } from '@nestjs/typeorm';
import {
  BacklogService,
  EmitsEvent,
  ForeignDataSourceError,
  getOutboxToken,
  InjectOutbox,
  NoActiveTransactionError,
  OutboxDispatcher,
  OutboxModule,
  OutboxService,
} from 'nestjs-transactional-outbox';
import { MemoryTransport } from 'nestjs-transactional-outbox/memory';
import type { DataSource } from 'typeorm';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { TestDatabase } from '../support/database.js';
import { ModuleHarness, outboxOptions } from '../support/module-harness.js';
import { noted, Order, OrderNoted } from '../support/outbox-app.js';

const LEDGER = getDataSourceToken('ledger');

const order = (): Order => Object.assign(new Order(), { id: randomUUID(), amountCents: 700 });

@Injectable()
class Ledger {
  constructor(
    @InjectOutbox(LEDGER) readonly outbox: OutboxService,
    @InjectDataSource('ledger') readonly dataSource: DataSource,
  ) {}

  @EmitsEvent(OrderNoted, ({ id, amountCents }: Order) => ({ orderId: id, amountCents }), { dataSource: LEDGER })
  enter(entry: Order): Promise<Order> {
    return this.dataSource.manager.save(entry);
  }
}

@Injectable()
class Shop {
  constructor(
    @InjectOutbox() readonly outbox: OutboxService,
    @InjectDataSource() readonly dataSource: DataSource,
    private readonly ledger: Ledger,
  ) {}

  @EmitsEvent(OrderNoted, ({ id, amountCents }: Order) => ({ orderId: id, amountCents }))
  sell(sold: Order): Promise<Order> {
    return this.dataSource.manager.save(sold);
  }

  /** Writes to both databases, and fails after that. */
  @EmitsEvent(OrderNoted, ({ id, amountCents }: Order) => ({ orderId: id, amountCents }))
  async sellAndRegret(sold: Order): Promise<Order> {
    await this.dataSource.manager.save(sold);
    await this.ledger.enter(order());
    throw new Error('regret');
  }
}

const events = async (database: TestDatabase): Promise<unknown[]> =>
  (await database.query('select aggregateid from outbox_event')).map(({ aggregateid }) => aggregateid);

const orders = async (database: TestDatabase): Promise<unknown[]> =>
  (await database.query('select id from orders')).map(({ id }) => id);

describe('an application with an outbox in each of two databases', () => {
  const harness = new ModuleHarness();
  const shopTransport = new MemoryTransport();
  const ledgerTransport = new MemoryTransport();
  let shopDatabase: TestDatabase;
  let ledgerDatabase: TestDatabase;
  let module: TestingModule;
  let shop: Shop;
  let ledger: Ledger;
  beforeEach(async () => {
    shopDatabase = await harness.database();
    ledgerDatabase = await harness.database();
    module = await harness.start({
      imports: [
        await harness.typeOrm(shopDatabase),
        await harness.typeOrm(ledgerDatabase, { name: 'ledger' }),
        OutboxModule.forRoot(outboxOptions(shopTransport)),
        OutboxModule.forRootAsync({ dataSource: LEDGER, useFactory: () => outboxOptions(ledgerTransport) }),
      ],
      providers: [Shop, Ledger],
    });
    shop = module.get(Shop);
    ledger = module.get(Ledger);
  });
  afterEach(async () => {
    await harness.end();
    shopTransport.clear();
    ledgerTransport.clear();
  });

  const serviceOf = <T>(service: Type<T>): T => module.get(getOutboxToken(service, LEDGER));

  it('gives each DataSource services of its own', async () => {
    expect(ledger.outbox).not.toBe(shop.outbox);
    expect(serviceOf(OutboxService)).toBe(ledger.outbox);
    await ledger.enter(order());
    expect(await serviceOf(BacklogService).read()).toMatchObject([{ destination: 'memory', pending: 1 }]);
    expect(await module.get(BacklogService).read()).toEqual([]);
  });

  it('stores an event in the database whose transaction it is', async () => {
    const sold = await shop.sell(order());
    const entered = await ledger.enter(order());
    const noted1 = noted(randomUUID());
    await ledger.dataSource.transaction((manager) => ledger.outbox.emit(manager, noted1));
    expect(await events(shopDatabase)).toEqual([sold.id]);
    expect(await events(ledgerDatabase)).toEqual([entered.id, noted1.orderId]);
    expect(await orders(shopDatabase)).toEqual([sold.id]);
    expect(await orders(ledgerDatabase)).toEqual([entered.id]);
  });

  it('dispatches each outbox to its own destinations only', async () => {
    await shop.sell(order());
    await ledger.enter(order());
    await module.get(OutboxDispatcher).drain();
    expect([shopTransport.accepted.length, ledgerTransport.accepted.length]).toEqual([1, 0]);
    await serviceOf(OutboxDispatcher).drain();
    expect([shopTransport.accepted.length, ledgerTransport.accepted.length]).toEqual([1, 1]);
  });

  it('refuses a manager of the other DataSource with an error that names both, and the transaction goes on', async () => {
    const name = ({ url }: TestDatabase): string => new URL(url).pathname.slice(1);
    await shop.dataSource.transaction(async (manager) => {
      const refused = ledger.outbox.emit(manager, noted(randomUUID()));
      await expect(refused).rejects.toThrow(ForeignDataSourceError);
      await expect(refused).rejects.toThrow(name(shopDatabase));
      await expect(refused).rejects.toThrow(`the DataSource "${String(LEDGER)}" (database "${name(ledgerDatabase)}")`);
      await manager.save(order());
    });
    await ledger.outbox.transaction((manager) =>
      expect(shop.outbox.emit(manager, noted(randomUUID()))).rejects.toThrow(ForeignDataSourceError),
    );
    expect(await orders(shopDatabase)).toHaveLength(1);
    expect([await events(shopDatabase), await events(ledgerDatabase)]).toEqual([[], []]);
  });

  it('takes the transaction of one DataSource for no transaction of the other', async () => {
    await shop.outbox.transaction(() =>
      expect(ledger.outbox.emit(noted(randomUUID()))).rejects.toThrow(NoActiveTransactionError),
    );
  });

  it('rolls back the outer method only in its own database: two databases are two transactions', async () => {
    await expect(shop.sellAndRegret(order())).rejects.toThrow('regret');
    expect([await events(shopDatabase), await orders(shopDatabase)]).toEqual([[], []]);
    expect(await events(ledgerDatabase)).toEqual(await orders(ledgerDatabase));
    expect(await events(ledgerDatabase)).toHaveLength(1);
  });
});
