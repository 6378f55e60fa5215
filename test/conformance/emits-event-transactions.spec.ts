import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { EmitsEvent } from 'nestjs-transactional-outbox';
import { DataSource, type EntityManager } from 'typeorm';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createTestDatabase } from '../support/database.js';
import { noted, Order, OrderNoted, type OutboxApp, startOutboxApp } from '../support/outbox-app.js';

const MY_TRANSACTION = 'select pg_current_xact_id()::text as id';

@Injectable()
class Placing {
  constructor(private readonly dataSource: DataSource) {}

  /** Saves through the injected DataSource, whatever managers it is given, and tells in which transaction. */
  @EmitsEvent(OrderNoted, (_transaction: string, id: string) => noted(id))
  async place(id: string, ..._managers: (EntityManager | undefined)[]): Promise<string> {
    await this.dataSource.getRepository(Order).insert({ id, amountCents: 1 });
    const [row] = await this.dataSource.query<[{ id: string }]>(MY_TRANSACTION);
    return row.id;
  }

  @EmitsEvent(OrderNoted, (_transactions: string[], ids: readonly string[]) => noted(ids[0] ?? ''))
  async placeAll(ids: readonly string[]): Promise<string[]> {
    const transactions: string[] = [];
    for (const id of ids) transactions.push(await this.place(id));
    return transactions;
  }
}

describe('the transaction of a method with @EmitsEvent', () => {
  let app: OutboxApp;
  let service: Placing;
  beforeAll(async () => {
    app = await startOutboxApp({ providers: [Placing] });
    service = app.module.get(Placing);
  });
  afterAll(() => app.close());
  beforeEach(() => app.database.query('truncate outbox_event, outbox_delivery, orders'));

  const transactionOf = async (manager: EntityManager): Promise<unknown> => (await manager.query(MY_TRANSACTION))[0].id;
  /** Orders and events that others see. */
  const stored = async (): Promise<unknown> => {
    const [row] = await app.database.query(
      'select array(select id::text from orders order by 1) as orders, array(select aggregateid from outbox_event order by 1) as events',
    );
    return row;
  };
  const both = (...ids: string[]): unknown => ({ orders: ids.toSorted(), events: ids.toSorted() });

  it('is one of its own where none is open, and it is committed when the call resolves', async () => {
    const [one, two] = [randomUUID(), randomUUID()];
    const transactions = [await service.place(one), await service.place(two)];
    expect(new Set(transactions).size).toBe(2);
    expect(await stored()).toEqual(both(one, two));
  });

  it('is that of an active EntityManager among the arguments, in which injected repositories take part too', async () => {
    const id = randomUUID();
    await app.dataSource.transaction(async (manager) => {
      expect(await service.place(id, manager)).toBe(await transactionOf(manager));
      expect(await stored()).toEqual(both());
    });
    expect(await stored()).toEqual(both(id));
  });

  it('a rollback of the joined transaction takes the change and the event with it', async () => {
    const rolledBack = app.dataSource.transaction(async (manager) => {
      await service.place(randomUUID(), manager);
      throw new Error('outer failed');
    });
    await expect(rolledBack).rejects.toThrow('outer failed');
    expect(await stored()).toEqual(both());
  });

  it('is that of outbox.transaction() around it', async () => {
    const [one, two] = [randomUUID(), randomUUID()];
    await app.outbox.transaction(async (manager) => {
      const transactions = [await service.place(one), await service.place(two), await transactionOf(manager)];
      expect(new Set(transactions).size).toBe(1);
      expect(await stored()).toEqual(both());
    });
    expect(await stored()).toEqual(both(one, two));
  });

  it('is that of the decorated method that calls it, and each states its own event', async () => {
    const ids = [randomUUID(), randomUUID()];
    expect(new Set(await service.placeAll(ids)).size).toBe(1);
    expect(await stored()).toEqual({ orders: ids.toSorted(), events: [...ids, ids[0]].toSorted() });
  });

  it('an EntityManager without a transaction is ignored: a transaction of its own, committed at the end', async () => {
    const id = randomUUID();
    await service.place(id, app.dataSource.manager);
    expect(await stored()).toEqual(both(id));
  });

  it('an EntityManager whose transaction is over is ignored likewise', async () => {
    const id = randomUUID();
    const over = await app.dataSource.transaction(async (manager) => manager);
    await service.place(id, over);
    expect(await stored()).toEqual(both(id));
  });

  it('the active one is found behind managers that are not: inactive, or of another DataSource', async () => {
    const id = randomUUID();
    const database = await createTestDatabase();
    const other = await new DataSource({ type: 'postgres', url: database.url, poolSize: 1 }).initialize();
    try {
      await other.transaction((foreign) =>
        app.dataSource.transaction(async (manager) => {
          const transaction = await service.place(id, app.dataSource.manager, foreign, undefined, manager);
          expect(transaction).toBe(await transactionOf(manager));
          expect(await stored()).toEqual(both());
        }),
      );
    } finally {
      await other.destroy();
      await database.drop();
    }
    expect(await stored()).toEqual(both(id));
  });

  it('an active EntityManager among the arguments is more to the point than the transaction around the call', async () => {
    const [kept, undone] = [randomUUID(), randomUUID()];
    const around = app.outbox.transaction(async (outer) => {
      await service.place(undone);
      // Independent on purpose: an own runner is not drawn into the transaction around it.
      const runner = app.dataSource.createQueryRunner();
      await runner.startTransaction();
      const transaction = await service.place(kept, runner.manager);
      expect(transaction).not.toBe(await transactionOf(outer));
      await runner.commitTransaction();
      await runner.release();
      throw new Error('around failed');
    });
    await expect(around).rejects.toThrow('around failed');
    expect(await stored()).toEqual(both(kept));
  });

  it('calls at the same time have a transaction each, and one that fails does not touch the others', async () => {
    const ids = Array.from({ length: 8 }, () => randomUUID());
    const [failing = '', ...fine] = ids;
    await app.orders.insert({ id: failing, amountCents: 1 });
    const results = await Promise.allSettled(ids.map((id) => service.place(id)));
    expect(results.map(({ status }) => status)).toEqual(['rejected', ...fine.map(() => 'fulfilled')]);
    const transactions = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
    expect(new Set(transactions).size).toBe(fine.length);
    expect(await stored()).toEqual({ orders: ids.toSorted(), events: fine.toSorted() });
  });
});
