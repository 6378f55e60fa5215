import type { EntitySubscriberInterface, QueryRunner } from 'typeorm';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type LibraryApp, startLibraryApp } from '../support/library-app.js';
import { Author, author, Book, book } from '../support/library-entities.js';

type Work = (app: LibraryApp) => Promise<unknown>;

const insertTwo = `insert into author (id, name) values (2, 'two')`;

const writes: readonly (readonly [string, Work])[] = [
  ['dataSource.manager.save', ({ dataSource }) => dataSource.manager.save(author(2))],
  ['dataSource.manager.insert', ({ dataSource }) => dataSource.manager.insert(Author, { id: 2, name: 'two' })],
  ['dataSource.manager.update', ({ dataSource }) => dataSource.manager.update(Author, 1, { name: 'renamed' })],
  ['dataSource.manager.clear', ({ dataSource }) => dataSource.manager.clear(Book)],
  ['dataSource.manager.query', ({ dataSource }) => dataSource.manager.query(insertTwo)],
  ['dataSource.manager.sql', ({ dataSource }) => dataSource.manager.sql`update author set name = ${'renamed'}`],
  [
    'an insert by dataSource.manager.createQueryBuilder',
    ({ dataSource }) => dataSource.manager.createQueryBuilder().insert().into(Author).values(author(2)).execute(),
  ],
  [
    'dataSource.manager.withRepository',
    ({ dataSource, authors }) => dataSource.manager.withRepository(authors.extend({})).save(author(2)),
  ],
  ['dataSource.query', ({ dataSource }) => dataSource.query(insertTwo)],
  ['dataSource.query with values', ({ dataSource }) => dataSource.query('update author set visits = $1', [5])],
  ['dataSource.sql', ({ dataSource }) => dataSource.sql`update author set visits = ${5}`],
  [
    'an insert by dataSource.createQueryBuilder',
    ({ dataSource }) => dataSource.createQueryBuilder().insert().into(Author).values(author(2)).execute(),
  ],
  [
    'an update by dataSource.createQueryBuilder',
    ({ dataSource }) => dataSource.createQueryBuilder().update(Author).set({ visits: 5 }).execute(),
  ],
  [
    'a delete by dataSource.createQueryBuilder of an entity',
    ({ dataSource }) => dataSource.createQueryBuilder(Book, 'b').delete().from(Book).where({ id: 1 }).execute(),
  ],
  ['an ActiveRecord that saves itself', () => author(2).save()],
  ['the ActiveRecord static insert', () => Author.insert({ id: 2, name: 'two' })],
  ['the ActiveRecord static update', () => Author.update({ id: 1 }, { visits: 5 })],
  [
    'a query builder of the ActiveRecord class',
    () => Author.createQueryBuilder().insert().values({ id: 2, name: 'two' }).execute(),
  ],
  [
    'dataSource.transaction, which becomes a savepoint',
    ({ dataSource }) => dataSource.transaction((m) => m.save(author(2))),
  ],
];

const reads: readonly (readonly [string, Work, unknown])[] = [
  ['dataSource.manager.find', ({ dataSource }) => dataSource.manager.find(Author), [{ id: 1 }, { id: 2 }]],
  [
    'dataSource.query',
    ({ dataSource }) => dataSource.query('select id from author order by id'),
    [{ id: 1 }, { id: 2 }],
  ],
  [
    'a select by dataSource.createQueryBuilder',
    ({ dataSource }) => dataSource.createQueryBuilder(Author, 'a').orderBy('a.id').getMany(),
    [{ id: 1 }, { id: 2 }],
  ],
  ['the ActiveRecord static find', () => Author.find({ order: { id: 'ASC' } }), [{ id: 1 }, { id: 2 }]],
];

describe('the DataSource and what hangs on it', () => {
  let app: LibraryApp;
  beforeAll(async () => {
    app = await startLibraryApp();
  });
  afterAll(() => app.close());
  beforeEach(() => app.reset());

  it.each(writes)('a rolled-back transaction takes back %s', async (_what, write) => {
    const before = await app.rows();
    let inside: unknown;
    await expect(
      app.outbox.transaction(async (manager) => {
        await write(app);
        inside = await app.rows(manager);
        throw new Error('rolled back');
      }),
    ).rejects.toThrow('rolled back');
    expect(inside).not.toEqual(before);
    expect(await app.rows()).toEqual(before);
  });

  it.each(reads)('%s sees what its transaction has written', async (_what, read, expected) => {
    const seen = await app.outbox.transaction(async (manager) => {
      await manager.query(insertTwo);
      return read(app);
    });
    expect(seen).toMatchObject(expected as object);
  });

  it.each([
    ['inside the transaction', true],
    ['before the transaction', false],
  ])('a lazy relation of an entity that was loaded %s is read in the transaction', async (_when, isInside) => {
    const load = () => app.dataSource.getRepository(Book).findOneByOrFail({ id: 1 });
    const early = isInside ? undefined : await load();
    const name = await app.outbox.transaction(async (manager) => {
      await manager.query(`update author set name = 'renamed inside'`);
      const loaded = early ?? (await load());
      return (await loaded.author).name;
    });
    expect(name).toBe('renamed inside');
  });

  it('entity subscribers are given the query runner of the transaction', async () => {
    const runners: (QueryRunner | undefined)[] = [];
    const subscriber: EntitySubscriberInterface = { afterInsert: (event) => void runners.push(event.queryRunner) };
    app.dataSource.subscribers.push(subscriber);
    try {
      const runner = await app.outbox.transaction(async (manager) => {
        await app.authors.save(author(2));
        return manager.queryRunner;
      });
      expect(runners).toEqual([runner]);
    } finally {
      app.dataSource.subscribers.splice(app.dataSource.subscribers.indexOf(subscriber), 1);
    }
  });

  it('a query runner of the application stays independent, with its manager', async () => {
    await expect(
      app.outbox.transaction(async () => {
        const runner = app.dataSource.createQueryRunner();
        await runner.manager.save(author(2));
        await runner.query(`insert into author (id, name) values (3, 'three')`);
        await runner.release();
        throw new Error('rolled back');
      }),
    ).rejects.toThrow('rolled back');
    expect(await app.database.query('select id from author')).toHaveLength(3);
  });

  it('schema work of TypeORM runs on connections of its own', async () => {
    await app.outbox.transaction(async () => {
      await app.authors.save(Object.assign(author(2), { books: [book(2)] }));
      await app.dataSource.showMigrations();
      await app.dataSource.driver.createSchemaBuilder().log();
      await app.authors.save(author(3));
    });
    expect(await app.authors.count()).toBe(3);
  });
});
