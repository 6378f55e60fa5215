import { randomUUID } from 'node:crypto';
import { ForeignDataSourceError, InvalidEventError, NoActiveTransactionError } from 'nestjs-transactional-outbox';
import { DataSource, type EntityManager } from 'typeorm';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { noted, Order, type OutboxApp, startOutboxApp } from '../support/outbox-app.js';

// What a JavaScript caller, or a wrong cast, may pass.
const undefinedManager = undefined as unknown as EntityManager;
const nullManager = null as unknown as EntityManager;
const numberManager = 42 as unknown as EntityManager;

describe('emit where it has no transaction', () => {
  let app: OutboxApp;
  let other: TestDatabase;
  let foreign: DataSource;
  beforeAll(async () => {
    // One connection: whoever took a second one for an event would wait for ever.
    app = await startOutboxApp({ poolSize: 1 });
    other = await createTestDatabase();
    foreign = await new DataSource({ type: 'postgres', url: other.url, entities: [Order] }).initialize();
  });
  afterAll(async () => {
    await app.close();
    await foreign.destroy();
    await other.drop();
  });
  beforeEach(() => app.database.query('truncate outbox_event, outbox_delivery, orders'));

  const stored = () => app.database.query('select id from outbox_event');

  it.each([
    ['without a manager', () => app.outbox.emit(noted(randomUUID())), 'Use @EmitsEvent'],
    ['with undefined as manager', () => app.outbox.emit(undefinedManager, noted(randomUUID())), 'got undefined'],
    ['with null as manager', () => app.outbox.emit(nullManager, noted(randomUUID())), 'got null'],
    ['with a number as manager', () => app.outbox.emit(numberManager, noted(randomUUID())), 'got number'],
    [
      'with the manager of the DataSource',
      () => app.outbox.emit(app.dataSource.manager, noted(randomUUID())),
      'no transaction of the default DataSource is active',
    ],
    [
      'with the manager of a repository',
      () => app.outbox.emit(app.orders.manager, noted(randomUUID())),
      'no transaction of the default DataSource is active',
    ],
    ['with an empty list', () => app.outbox.emit([]), 'no transaction of the default DataSource is active'],
  ])('%s is refused, and the error says what to do', async (_how, emit, message) => {
    await expect(emit()).rejects.toThrow(NoActiveTransactionError);
    await expect(emit()).rejects.toThrow(message);
    await expect(emit()).rejects.toMatchObject({ code: 'OUTBOX_NO_ACTIVE_TRANSACTION', retryable: false });
    expect(await stored()).toEqual([]);
  });

  it('is refused with a manager whose query runner was released', async () => {
    const runner = app.dataSource.createQueryRunner();
    await runner.startTransaction();
    const { manager } = runner;
    await runner.release();
    await expect(app.outbox.emit(manager, noted(randomUUID()))).rejects.toThrow(NoActiveTransactionError);
    // TypeORM gave the connection back as it was; end what is open on it.
    await app.dataSource.query('rollback');
    expect(await stored()).toEqual([]);
  });

  it('is refused with the manager of a transaction that has committed', async () => {
    const manager = await app.dataSource.transaction(async (inner) => inner);
    await expect(app.outbox.emit(manager, noted(randomUUID()))).rejects.toThrow(NoActiveTransactionError);
    expect(await stored()).toEqual([]);
  });

  it('a refused emit leaves the transaction that is open elsewhere usable, and never waits for a connection', async () => {
    const id = randomUUID();
    await app.dataSource.transaction(async (manager) => {
      await manager.insert(Order, { id, amountCents: 1 });
      await expect(app.outbox.emit(noted(id))).rejects.toThrow(NoActiveTransactionError);
      await expect(app.outbox.emit(app.dataSource.manager, noted(id))).rejects.toThrow(NoActiveTransactionError);
      await app.outbox.emit(manager, noted(id));
    });
    expect(await app.database.query('select aggregateid from outbox_event')).toEqual([{ aggregateid: id }]);
    expect(await app.orders.count()).toBe(1);
  });

  it('a manager of another DataSource is refused with the names of both', async () => {
    await foreign.transaction(async (manager) => {
      const emitted = app.outbox.emit(manager, noted(randomUUID()));
      await expect(emitted).rejects.toThrow(ForeignDataSourceError);
      await expect(emitted).rejects.toThrow(new URL(other.url).pathname.slice(1));
      await expect(emitted).rejects.toThrow(new URL(app.database.url).pathname.slice(1));
      await manager.query('select 1');
    });
    expect(await stored()).toEqual([]);
  });

  it('so it is inside an open transaction of the right one', async () => {
    const transaction = app.outbox.transaction(() =>
      foreign.transaction((manager) => app.outbox.emit(manager, noted(randomUUID()))),
    );
    await expect(transaction).rejects.toThrow(ForeignDataSourceError);
    expect(await stored()).toEqual([]);
  });

  it.each([
    ['a plain object', { orderId: 'x' }],
    ['a list with a plain object', [noted(randomUUID()), { orderId: 'x' }]],
    ['an event class', noted],
    ['text', 'order.noted'],
    ['null', null],
    ['an object whose constructor is not a function', { constructor: 5 }],
  ])('%s is no event: it is refused and the transaction stays usable', async (_what, thing) => {
    await app.dataSource.transaction(async (manager) => {
      const event = thing as object;
      await expect(app.outbox.emit(manager, event)).rejects.toThrow(InvalidEventError);
      await manager.query('select 1');
    });
    expect(await stored()).toEqual([]);
  });

  it('every refusal is a rejection, never an exception at the call', () => {
    const call = app.outbox.emit(nullManager, noted(randomUUID()));
    expect(call).toBeInstanceOf(Promise);
    return expect(call).rejects.toThrow(NoActiveTransactionError);
  });
});
