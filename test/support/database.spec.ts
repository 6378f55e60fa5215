import pg from 'pg';
import { afterEach, describe, expect, inject, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from './database.js';
import { eventually } from './eventually.js';

describe('createTestDatabase', () => {
  const databases: TestDatabase[] = [];
  const create = async (): Promise<TestDatabase> => {
    const database = await createTestDatabase();
    databases.push(database);
    return database;
  };

  afterEach(async () => {
    await Promise.all(databases.splice(0).map((database) => database.drop()));
  });

  it('gives every caller an empty database of its own', async () => {
    const [one, other] = await Promise.all([create(), create()]);
    await one.query('create table note (text text not null)');
    await one.query('insert into note (text) values ($1)', ['only here']);

    expect(await one.query('select text from note')).toEqual([{ text: 'only here' }]);
    await expect(other.query('select text from note')).rejects.toMatchObject({ code: '42P01' });
  });

  it('drops a database although somebody is still connected to it', async () => {
    const database = await create();
    const forgotten = new pg.Client(database.url);
    const errors: unknown[] = [];
    forgotten.on('error', (error) => errors.push(error)); // PostgreSQL's own word, then the lost connection
    await forgotten.connect();

    await database.drop();

    await eventually(() => expect(errors[0]).toMatchObject({ code: '57P01' }));
    const name = new URL(database.url).pathname.slice(1);
    const admin = new pg.Client(inject('adminDatabaseUrl'));
    await admin.connect();
    const { rows } = await admin.query('select 1 from pg_database where datname = $1', [name]);
    await admin.end();
    expect(rows).toEqual([]);
  });
});
