import {
  BaseEntity,
  Column,
  DataSource,
  Entity,
  ManyToOne,
  OneToMany,
  PrimaryColumn,
  Repository,
  Tree,
  TreeChildren,
  TreeParent,
} from 'typeorm';

// A small domain with every kind of access that TypeORM offers, for the tests of what takes part in a transaction.

/** ActiveRecord, with a relation that cascades. */
@Entity('author')
export class Author extends BaseEntity {
  @PrimaryColumn('int')
  id: number;

  @Column('text')
  name: string;

  @Column('int', { default: 0 })
  visits: number;

  @OneToMany(
    () => Book,
    (book) => book.author,
    { cascade: true },
  )
  books: Book[];
}

/** With a lazy relation. */
@Entity('book')
export class Book {
  @PrimaryColumn('int')
  id: number;

  @Column('text')
  title: string;

  @ManyToOne(
    () => Author,
    (author) => author.books,
    { lazy: true },
  )
  author: Promise<Author>;
}

@Entity('topic')
@Tree('closure-table')
export class Topic {
  @PrimaryColumn('int')
  id: number;

  @TreeParent()
  parent: Topic | null;

  @TreeChildren()
  children: Topic[];
}

export const libraryEntities = [Author, Book, Topic];

/** A custom repository on a manager of its own, as many Nest applications have it. */
export class AuthorsOnOwnManager extends Repository<Author> {
  constructor(dataSource: DataSource) {
    super(Author, dataSource.createEntityManager());
  }

  rename(id: number, name: string): Promise<unknown> {
    return this.createQueryBuilder().update().set({ name }).where({ id }).execute();
  }

  books(): Repository<Book> {
    return this.manager.getRepository(Book);
  }
}

/** A custom repository on the manager of the DataSource. */
export class AuthorsOnRootManager extends Repository<Author> {
  constructor(dataSource: DataSource) {
    super(Author, dataSource.manager);
  }

  rename(id: number, name: string): Promise<unknown> {
    return this.createQueryBuilder().update().set({ name }).where({ id }).execute();
  }
}

export function author(id: number, name = `author ${id}`): Author {
  return Object.assign(new Author(), { id, name });
}

export function book(id: number, title = `book ${id}`): Book {
  return Object.assign(new Book(), { id, title });
}

export function topic(id: number, parent: Topic | null = null): Topic {
  return Object.assign(new Topic(), { id, parent });
}
