import { DataSource, type EntityManager, type Repository } from 'typeorm';
import { createTestDatabase } from './database.js';
import {
  Author,
  AuthorsOnOwnManager,
  AuthorsOnRootManager,
  author,
  book,
  libraryEntities,
} from './library-entities.js';
import { Order, type OutboxApp, startOutboxApp } from './outbox-app.js';

export interface LibraryApp extends OutboxApp {
  /** Repositories that were there before the outbox was. */
  readonly authors: Repository<Author>;
  readonly authorsOnOwnManager: AuthorsOnOwnManager;
  readonly authorsOnRootManager: AuthorsOnRootManager;
  /** Author 1 with book 1, and nothing else. */
  reset(): Promise<void>;
  /** All rows of the domain, as the given transaction sees them, or as everybody else does. */
  rows(manager?: EntityManager): Promise<unknown>;
}

/** An application whose DataSource and custom repositories are older than its outbox. */
export async function startLibraryApp(options: { readonly poolSize?: number } = {}): Promise<LibraryApp> {
  const database = await createTestDatabase();
  const dataSource = await new DataSource({
    type: 'postgres',
    url: database.url,
    entities: [Order, ...libraryEntities],
    synchronize: true,
    poolSize: options.poolSize ?? 10,
    // A statement that should take part and does not may wait for a lock of the very transaction around it.
    extra: { lock_timeout: 2000 },
  }).initialize();
  const authors = dataSource.getRepository(Author);
  const authorsOnOwnManager = new AuthorsOnOwnManager(dataSource);
  const authorsOnRootManager = new AuthorsOnRootManager(dataSource);
  const app = await startOutboxApp({ database, dataSource });
  return {
    ...app,
    authors,
    authorsOnOwnManager,
    authorsOnRootManager,
    async reset() {
      await database.query('truncate outbox_event, outbox_delivery, orders, author, book, topic, topic_closure');
      await authors.save(Object.assign(author(1), { books: [book(1)] }));
      app.memory.clear();
    },
    rows(manager) {
      return manager === undefined ? database.query(SNAPSHOT) : manager.query(SNAPSHOT);
    },
    async close() {
      await app.close();
      await database.drop();
    },
  };
}

const SNAPSHOT = `select
  (select jsonb_agg(a order by a.id) from author a) as authors,
  (select jsonb_agg(b order by b.id) from book b) as books,
  (select jsonb_agg(t order by t.id) from topic t) as topics,
  (select count(*)::int from topic_closure) as ancestries`;
