import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type LibraryApp, startLibraryApp } from '../support/library-app.js';
import { Author, author, book, Topic, topic } from '../support/library-entities.js';

type Work = (app: LibraryApp) => Promise<unknown>;

const writes: readonly (readonly [string, Work])[] = [
  ['repository.save', ({ authors }) => authors.save(author(2))],
  ['repository.insert', ({ authors }) => authors.insert({ id: 2, name: 'two' })],
  ['repository.update', ({ authors }) => authors.update({ id: 1 }, { name: 'renamed' })],
  ['repository.upsert', ({ authors }) => authors.upsert({ id: 1, name: 'upserted' }, ['id'])],
  ['repository.increment', ({ authors }) => authors.increment({ id: 1 }, 'visits', 1)],
  ['repository.decrement', ({ authors }) => authors.decrement({ id: 1 }, 'visits', 1)],
  ['repository.delete', ({ dataSource }) => dataSource.getRepository('book').delete({ id: 1 })],
  ['repository.remove', ({ dataSource }) => dataSource.getRepository('book').remove(book(1))],
  ['repository.clear', ({ dataSource }) => dataSource.getRepository('book').clear()],
  ['repository.query', ({ authors }) => authors.query(`insert into author (id, name) values (2, 'two')`)],
  [
    'an insert by repository.createQueryBuilder',
    ({ authors }) => authors.createQueryBuilder().insert().values({ id: 2, name: 'two' }).execute(),
  ],
  [
    'an update by repository.createQueryBuilder',
    ({ authors }) => authors.createQueryBuilder().update().set({ name: 'renamed' }).where({ id: 1 }).execute(),
  ],
  ['a cascade', ({ authors }) => authors.save(Object.assign(author(2), { books: [book(2), book(3)] }))],
  ['a repository extended before the outbox was there', ({ authors }) => extended(authors).add(2)],
  ['a repository class on a manager of its own', ({ authorsOnOwnManager }) => authorsOnOwnManager.save(author(2))],
  ['a query builder of such a class', ({ authorsOnOwnManager }) => authorsOnOwnManager.rename(1, 'renamed')],
  [
    'the neighbours of such a class',
    ({ authorsOnOwnManager }) => authorsOnOwnManager.books().update(1, { title: 'x' }),
  ],
  ['a repository class on the root manager', ({ authorsOnRootManager }) => authorsOnRootManager.save(author(2))],
  ['a query builder of that class', ({ authorsOnRootManager }) => authorsOnRootManager.rename(1, 'renamed')],
  ['TreeRepository.save', ({ dataSource }) => dataSource.getTreeRepository(Topic).save(topic(1))],
];

const reads: readonly (readonly [string, Work, unknown])[] = [
  ['repository.find', ({ authors }) => authors.find(), [{ id: 1 }, { id: 2 }]],
  ['repository.findOneBy', ({ authors }) => authors.findOneBy({ id: 2 }), { id: 2 }],
  ['repository.count', ({ authors }) => authors.count(), 2],
  ['repository.exists', ({ authors }) => authors.existsBy({ id: 2 }), true],
  ['repository.preload', ({ authors }) => authors.preload({ id: 2, visits: 5 }), { id: 2, name: 'two', visits: 5 }],
  ['a select by a query builder', ({ authors }) => authors.createQueryBuilder('a').getMany(), [{ id: 1 }, { id: 2 }]],
  ['a lock', ({ authors }) => authors.findOne({ where: { id: 2 }, lock: { mode: 'pessimistic_write' } }), { id: 2 }],
  ['a class on a manager of its own', ({ authorsOnOwnManager }) => authorsOnOwnManager.count(), 2],
  ['TreeRepository.findRoots', ({ dataSource }) => dataSource.getTreeRepository(Topic).findRoots(), [{ id: 1 }]],
  ['TreeRepository.findTrees', ({ dataSource }) => dataSource.getTreeRepository(Topic).findTrees(), [{ id: 1 }]],
  [
    'TreeRepository.countDescendants',
    ({ dataSource }) => dataSource.getTreeRepository(Topic).countDescendants(topic(1)),
    1,
  ],
];

function extended(authors: LibraryApp['authors']) {
  return authors.extend({
    add(this: LibraryApp['authors'], id: number) {
      return this.save(author(id));
    },
  });
}

describe('injected repositories', () => {
  let app: LibraryApp;
  beforeAll(async () => {
    app = await startLibraryApp();
  });
  afterAll(() => app.close());
  beforeEach(() => app.reset());

  it.each(writes)('a rolled-back transaction takes %s back', async (_what, write) => {
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
      await manager.query(`insert into author (id, name) values (2, 'two')`);
      await manager.query('insert into topic (id) values (1)');
      await manager.query('insert into topic_closure (id_ancestor, id_descendant) values (1, 1)');
      return read(app);
    });
    if (typeof expected === 'object') expect(seen).toMatchObject(expected as object);
    else expect(seen).toBe(expected);
  });

  it('a committed transaction keeps all of it', async () => {
    await app.outbox.transaction(async () => {
      await app.authors.save(author(2));
      await app.authorsOnOwnManager.save(author(3));
      await app.authorsOnRootManager.save(author(4));
    });
    expect(await app.database.query('select id from author order by id')).toEqual([1, 2, 3, 4].map((id) => ({ id })));
    expect(await Author.findOneBy({ id: 3 })).toBeInstanceOf(Author);
  });
});
