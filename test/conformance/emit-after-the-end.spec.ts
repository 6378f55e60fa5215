import { randomUUID } from 'node:crypto';
import { NoActiveTransactionError, outsideTransaction, TransactionEndedError } from 'nestjs-transactional-outbox';
import { DataSource } from 'typeorm';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { gate } from '../support/gate.js';
import { type LibraryApp, startLibraryApp } from '../support/library-app.js';
import { author, Topic } from '../support/library-entities.js';
import { noted } from '../support/outbox-app.js';

describe('after the transaction has ended', () => {
  let app: LibraryApp;
  beforeAll(async () => {
    app = await startLibraryApp();
  });
  afterAll(() => app.close());
  beforeEach(() => app.reset());

  /** Runs `late` in the async context of a transaction, but only when that transaction is over. */
  async function runLate<T>(late: () => Promise<T>, outcome: 'commit' | 'rollback' = 'commit'): Promise<T> {
    const over = gate();
    let running: Promise<T> | undefined;
    const transaction = app.outbox.transaction(async () => {
      running = over.opened.then(late);
      if (outcome === 'rollback') throw new Error('rolled back');
    });
    await transaction.catch(() => undefined);
    over.open();
    if (running === undefined) throw new Error('the transaction did not run');
    return running;
  }

  it.each(['commit', 'rollback'] as const)(
    'a timer that was started inside works as usual after the %s',
    async (how) => {
      await runLate(async () => {
        await app.authors.save(author(2));
        await app.dataSource.query(`insert into author (id, name) values (3, 'three')`);
        await app.dataSource.transaction((manager) => manager.save(author(4)));
      }, how);
      expect(await app.database.query('select id from author order by id')).toEqual([1, 2, 3, 4].map((id) => ({ id })));
    },
  );

  it('a transaction that is opened later in that context is a new one', async () => {
    await runLate(() => app.outbox.transaction(() => app.outbox.emit(noted(randomUUID()))));
    expect(await app.database.query('select type from outbox_event')).toEqual([{ type: 'order.noted' }]);
  });

  it.each(['commit', 'rollback'] as const)('emit is refused after the %s and stores nothing', async (how) => {
    await expect(runLate(() => app.outbox.emit(noted(randomUUID())), how)).rejects.toThrow(TransactionEndedError);
    expect(await app.database.query('select id from outbox_event')).toEqual([]);
  });

  it('emit with the manager of the ended transaction is refused', async () => {
    const manager = await app.outbox.transaction(async (inner) => inner);
    await expect(app.outbox.emit(manager, noted(randomUUID()))).rejects.toThrow(NoActiveTransactionError);
  });

  it('a repository that was first obtained inside works', async () => {
    await app.outbox.transaction(async () => {
      await app.dataSource.getRepository(Topic).count();
      await app.dataSource.getTreeRepository(Topic).findRoots();
      await app.authorsOnOwnManager.books().count();
    });
    expect(await app.dataSource.getRepository(Topic).createQueryBuilder('t').getCount()).toBe(0);
    expect(await app.dataSource.getTreeRepository(Topic).findRoots()).toEqual([]);
    expect(await app.authorsOnOwnManager.books().createQueryBuilder('b').getCount()).toBe(1);
  });

  it('a query builder that was made inside is refused', async () => {
    const made = await app.outbox.transaction(async () => app.authors.createQueryBuilder().insert().values(author(2)));
    await expect(made.execute()).rejects.toThrow('Query runner already released');
    expect(await app.authors.count()).toBe(1);
  });

  it.each([
    ['root manager', () => app.dataSource.manager],
    ['manager of a repository class', () => app.authorsOnOwnManager.manager],
  ])('releasing the %s inside does not release the transaction', async (_what, managerOf) => {
    await app.outbox.transaction(async () => {
      await expect(async () => managerOf().release()).rejects.toThrow('cannot be released');
      await app.authors.save(author(2));
    });
    expect(await app.authors.count()).toBe(2);
  });

  it('a manager keeps the keys that TypeORM gave it', async () => {
    const untouched = new DataSource({ type: 'postgres', url: app.database.url });
    const inside = await app.outbox.transaction(async () => Object.keys(app.dataSource.manager));
    expect(inside).toEqual(Object.keys(untouched.manager));
  });
});

describe('outsideTransaction', () => {
  let app: LibraryApp;
  beforeAll(async () => {
    app = await startLibraryApp();
  });
  afterAll(() => app.close());
  beforeEach(() => app.reset());

  it('what runs in it keeps its writes when the transaction around it rolls back', async () => {
    await expect(
      app.outbox.transaction(async () => {
        await app.authors.save(author(2));
        await outsideTransaction(() => app.authors.save(author(3)));
        throw new Error('rolled back');
      }),
    ).rejects.toThrow('rolled back');
    expect(await app.authors.find({ select: { id: true }, order: { id: 'ASC' } })).toMatchObject([
      { id: 1 },
      { id: 3 },
    ]);
  });

  it('emit is refused in it, and a transaction in it is a new one', async () => {
    await expect(
      app.outbox.transaction(async () => {
        await outsideTransaction(async () => {
          await expect(app.outbox.emit(noted(randomUUID()))).rejects.toThrow(NoActiveTransactionError);
          await app.outbox.transaction(() => app.outbox.emit(noted(randomUUID())));
        });
        throw new Error('rolled back');
      }),
    ).rejects.toThrow('rolled back');
    expect(await app.database.query('select type from outbox_event')).toHaveLength(1);
  });
});
