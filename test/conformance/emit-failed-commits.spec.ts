import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { EmitsEvent, OutboxService, TransactionNotCommittedError } from 'nestjs-transactional-outbox';
import { DataSource, type EntityManager } from 'typeorm';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { gate } from '../support/gate.js';
import { noted, Order, OrderNoted, type OutboxApp, startOutboxApp, step } from '../support/outbox-app.js';

const order = (id: string = randomUUID()) => ({ id, amountCents: 100 });
const toEvent = (id: string) => ({ orderId: id, amountCents: 100 });

@Injectable()
class SwallowingService {
  constructor(
    private readonly dataSource: DataSource,
    private readonly outbox: OutboxService,
  ) {}

  @EmitsEvent(OrderNoted, toEvent)
  async placeAndSwallow(id: string): Promise<string> {
    await this.dataSource.manager.insert(Order, order(id));
    await this.dataSource.query('select 1 / 0').catch(() => undefined);
    return id;
  }

  @EmitsEvent(OrderNoted, () => undefined)
  async emitAndSwallow(id: string): Promise<void> {
    await this.outbox.emit(noted(id));
    await this.dataSource.query('select 1 / 0').catch(() => undefined);
  }
}

// One connection: whatever a transaction leaves on it meets the next statement.
describe('a transaction that cannot commit', () => {
  let app: OutboxApp;
  beforeAll(async () => {
    app = await startOutboxApp({ poolSize: 1, providers: [SwallowingService] });
    await app.database.query('create table label (name text unique deferrable initially deferred)');
  });
  afterAll(() => app.close());
  beforeEach(() => app.database.query('truncate outbox_event, outbox_delivery, outbox_aggregate, orders, label'));

  /** Nothing is stored, and the only connection of the pool is usable and outside every transaction. */
  async function expectNothingLeft(): Promise<void> {
    await app.dataSource.query('insert into label (name) values ($1)', ['still usable']);
    expect(
      await app.database.query(`select
        (select count(*)::int from orders) as orders, (select count(*)::int from outbox_event) as events,
        (select count(*)::int from outbox_delivery) as deliveries, (select count(*)::int from label) as labels`),
    ).toEqual([{ orders: 0, events: 0, deliveries: 0, labels: 1 }]);
  }

  it('outbox.transaction rejects when a database error was swallowed, and nothing is stored', async () => {
    const transaction = app.outbox.transaction(async () => {
      await app.orders.insert(order());
      await app.outbox.emit(noted(randomUUID()));
      await app.dataSource.query('select 1 / 0').catch(() => undefined);
    });
    await expect(transaction).rejects.toThrow(TransactionNotCommittedError);
    await expectNothingLeft();
  });

  it('a decorated method that swallowed a database error rejects, and nothing is stored', async () => {
    const placed = app.module.get(SwallowingService).placeAndSwallow(randomUUID());
    await expect(placed).rejects.toThrow(TransactionNotCommittedError);
    await expectNothingLeft();
  });

  it('it rejects as well when the event was stored before the error', async () => {
    const placed = app.module.get(SwallowingService).emitAndSwallow(randomUUID());
    await expect(placed).rejects.toThrow(TransactionNotCommittedError);
    await expectNothingLeft();
  });

  it('emit after a swallowed database error is refused for that reason', async () => {
    const transaction = app.dataSource.transaction(async (manager) => {
      await manager.query('select 1 / 0').catch(() => undefined);
      await app.outbox.emit(manager, noted(randomUUID()));
    });
    await expect(transaction).rejects.toThrow(TransactionNotCommittedError);
    await expectNothingLeft();
  });

  it('a statement that nobody awaited and that fails makes the transaction reject', async () => {
    let late: Promise<unknown> | undefined;
    const transaction = app.outbox.transaction(async () => {
      await app.orders.insert(order());
      late = app.dataSource.query('select 1 / 0').catch(() => 'failed');
    });
    await expect(transaction).rejects.toThrow(TransactionNotCommittedError);
    expect(await late).toBe('failed');
    await expectNothingLeft();
  });

  it('an error that was caught around a nested transaction takes nothing else with it', async () => {
    await app.outbox.transaction(async () => {
      await app.outbox.emit(noted(randomUUID()));
      await app.dataSource.transaction((manager) => manager.query('select 1 / 0')).catch(() => undefined);
    });
    expect(await app.database.query('select type from outbox_event')).toHaveLength(1);
  });

  it('a constraint that fails at COMMIT reaches the caller as it is, and nothing is stored', async () => {
    const violate = async (manager: EntityManager): Promise<void> => {
      await app.outbox.emit(manager, [noted(randomUUID()), step(randomUUID(), 1)]);
      await manager.query(`insert into label (name) values ('twice'), ('twice')`);
    };
    await expect(app.outbox.transaction(violate)).rejects.toMatchObject({ code: '23505' });
    await expect(app.dataSource.transaction(violate)).rejects.toMatchObject({ code: '23505' });
    await expectNothingLeft();
  });

  it('a nested transaction that was not awaited makes the transaction reject', async () => {
    const [begun, over] = [gate(), gate()];
    let nested: Promise<unknown> | undefined;
    const transaction = app.outbox.transaction(async () => {
      await app.orders.insert(order());
      nested = app.dataSource.transaction(async (manager) => {
        begun.open();
        await over.opened;
        await manager.insert(Order, order());
      });
      nested.catch(() => undefined);
      await begun.opened;
    });
    await expect(transaction).rejects.toThrow(TransactionNotCommittedError);
    over.open();
    await expect(nested).rejects.toThrow();
    await expectNothingLeft();
  });

  it('so does one that had not begun when the method ended', async () => {
    let nested: Promise<unknown> | undefined;
    const transaction = app.outbox.transaction(async () => {
      await app.orders.insert(order());
      nested = app.dataSource.transaction((manager) => manager.insert(Order, order()));
      nested.catch(() => undefined);
    });
    await expect(transaction).rejects.toThrow(TransactionNotCommittedError);
    await expect(nested).rejects.toThrow();
    await expectNothingLeft();
  });

  it('nested transactions that run side by side make the transaction reject', async () => {
    const nested = () => app.dataSource.transaction((manager) => manager.insert(Order, order()));
    const transaction = app.outbox.transaction(async () => {
      await app.orders.insert(order());
      await Promise.all([nested(), nested()]);
    });
    await expect(transaction).rejects.toThrow();
    await expectNothingLeft();
  });

  it('a backend that is lost inside rejects the transaction, and the pool goes on', async () => {
    const transaction = app.outbox.transaction(async (manager) => {
      await app.orders.insert(order());
      await app.outbox.emit(noted(randomUUID()));
      const [backend] = await manager.query<{ pid: number }[]>('select pg_backend_pid() as pid');
      await app.database.query('select pg_terminate_backend($1)', [backend?.pid]);
      await manager.query('select 1');
    });
    await expect(transaction).rejects.toThrow();
    await expectNothingLeft();
  });

  it('a backend that is lost after the last statement rejects the transaction', async () => {
    const transaction = app.outbox.transaction(async (manager) => {
      await app.outbox.emit(noted(randomUUID()));
      const [backend] = await manager.query<{ pid: number }[]>('select pg_backend_pid() as pid');
      await app.database.query('select pg_terminate_backend($1)', [backend?.pid]);
    });
    await expect(transaction).rejects.toThrow();
    await expectNothingLeft();
  });
});
