import { randomUUID } from 'node:crypto';
import { registerDecorator } from 'class-validator';
import {
  AggregateId,
  NoActiveTransactionError,
  OutboxEvent,
  TransactionEndedError,
  TransactionNotCommittedError,
} from 'nestjs-transactional-outbox';
import { MemoryTransport } from 'nestjs-transactional-outbox/memory';
import { DataSource } from 'typeorm';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { gate } from '../support/gate.js';
import { noted, Order, OrderNoted, OrderStep, type OutboxApp, startOutboxApp, step } from '../support/outbox-app.js';

/** Validation that takes as long as the test wants: emit() has begun, and its statement is sent when the gate opens. */
let validation = gate();

@OutboxEvent('slowly.validated', { aggregate: 'slow' })
class SlowlyValidated {
  @AggregateId()
  id = randomUUID();
}
registerDecorator({
  name: 'opensLate',
  target: SlowlyValidated,
  propertyName: 'id',
  validator: { validate: () => validation.opened.then(() => true) },
});

interface Client {
  getTransactionStatus?: unknown;
  release(): void;
}

/** Every way in which a statement is bound to its transaction. */
const clients: readonly (readonly [string, Record<string, unknown>, (client: Client) => void])[] = [
  ['the current client', {}, () => undefined],
  [
    'a client that does not tell its transaction status',
    {},
    (client) => {
      client.getTransactionStatus = undefined;
    },
  ],
  ['a client that pipelines', { pipeline: true }, () => undefined],
];

describe.each(clients)('with %s', (_kind, extra, prepare) => {
  let database: TestDatabase;
  let app: OutboxApp;
  beforeAll(async () => {
    database = await createTestDatabase();
    // One connection: a late statement meets whatever transaction is on it then.
    const dataSource = new DataSource({
      type: 'postgres',
      url: database.url,
      entities: [Order],
      poolSize: 1,
      extra,
    });
    await dataSource.initialize();
    const { master } = dataSource.driver as unknown as { master: { connect(): Promise<Client> } };
    const client = await master.connect();
    prepare(client);
    client.release();
    app = await startOutboxApp({
      database,
      dataSource,
      outbox: {
        destinations: { memory: { transport: new MemoryTransport() } },
        routes: [{ events: [OrderNoted, OrderStep, SlowlyValidated], to: ['memory'] }],
      },
    });
  });
  afterAll(async () => {
    await app.close();
    await database.drop();
  });
  beforeEach(async () => {
    await database.query('truncate outbox_event, outbox_delivery, outbox_aggregate');
    validation = gate();
  });

  const stored = () => database.query('select type from outbox_event');

  it('an event is stored in its transaction, in savepoints and after them', async () => {
    await app.dataSource.transaction(async (manager) => {
      const slow = app.outbox.emit(manager, new SlowlyValidated());
      await manager.transaction((inner) => app.outbox.emit(inner, noted(randomUUID())));
      await manager
        .transaction(async (inner) => {
          await app.outbox.emit(inner, noted(randomUUID()));
          throw new Error('back to the savepoint');
        })
        .catch(() => undefined);
      validation.open();
      await slow;
      await app.outbox.emit(manager, step(randomUUID(), 1));
    });
    expect((await stored()).map(({ type }) => type).toSorted()).toEqual([
      'order.noted',
      'order.step',
      'slowly.validated',
    ]);
  });

  it('several emits that run at once are all stored', async () => {
    await app.dataSource.transaction(async (manager) => {
      await Promise.all(Array.from({ length: 20 }, () => app.outbox.emit(manager, noted(randomUUID()))));
    });
    expect(await stored()).toHaveLength(20);
  });

  it.each(['commit', 'rollback'])('an event that is ready only after the %s is refused', async (how) => {
    let late: Promise<unknown> | undefined;
    const transaction = app.dataSource.transaction(async (manager) => {
      late = app.outbox.emit(manager, new SlowlyValidated());
      if (how === 'rollback') throw new Error('rolled back');
    });
    await transaction.catch(() => undefined);
    validation.open();
    await expect(late).rejects.toThrow(TransactionEndedError);
    expect(await stored()).toEqual([]);
  });

  it.each(['commit', 'rollback'])('an event that is ready while the %s is on its way is refused', async (how) => {
    const runner = app.dataSource.createQueryRunner();
    try {
      await runner.startTransaction();
      const late = app.outbox.emit(runner.manager, new SlowlyValidated());
      const ended = how === 'commit' ? runner.commitTransaction() : runner.rollbackTransaction();
      await new Promise((resolve) => process.nextTick(resolve)); // the statement has been sent, the answer is not here
      expect(runner.isTransactionActive).toBe(true);
      validation.open();
      await expect(late).rejects.toThrow(TransactionEndedError);
      await ended;
    } finally {
      await runner.release();
    }
    expect(await stored()).toEqual([]);
  });

  it("an event that is ready only in a stranger's transaction on the same connection is refused", async () => {
    let late: Promise<unknown> | undefined;
    await app.dataSource.transaction(async (manager) => {
      late = app.outbox.emit(manager, new SlowlyValidated());
    });
    await app.dataSource.transaction(async (stranger) => {
      await app.outbox.emit(stranger, noted(randomUUID()));
      validation.open();
      await expect(late).rejects.toThrow(TransactionEndedError);
      await app.outbox.emit(stranger, noted(randomUUID()));
    });
    expect(await stored()).toEqual([{ type: 'order.noted' }, { type: 'order.noted' }]);
  });

  it('so is one that is ready only in the transaction that COMMIT AND CHAIN begins', async () => {
    let late: Promise<unknown> | undefined;
    await app.dataSource.transaction(async (manager) => {
      late = app.outbox.emit(manager, new SlowlyValidated());
      await manager.query('commit and chain');
      validation.open();
      await expect(late).rejects.toThrow(TransactionEndedError);
    });
    expect(await stored()).toEqual([]);
  });

  it('emit after a statement that failed is refused, and says that the transaction cannot commit', async () => {
    const transaction = app.dataSource.transaction(async (manager) => {
      await manager.query('select 1 / 0').catch(() => undefined);
      await app.outbox.emit(manager, noted(randomUUID()));
    });
    await expect(transaction).rejects.toThrow(TransactionNotCommittedError);
  });

  it('emit on a query runner without a transaction is refused', async () => {
    const runner = app.dataSource.createQueryRunner();
    try {
      await runner.connect();
      await expect(app.outbox.emit(runner.manager, noted(randomUUID()))).rejects.toThrow(NoActiveTransactionError);
      await runner.startTransaction();
      await app.outbox.emit(runner.manager, noted(randomUUID()));
      await runner.commitTransaction();
    } finally {
      await runner.release();
    }
    expect(await stored()).toHaveLength(1);
  });
});
