import pg from 'pg';
import { inject } from 'vitest';
import type { TestDatabase } from './database.js';

/** Lets nobody in any more and ends every session: to its clients the database is away. */
export function shutOut(database: TestDatabase): Promise<void> {
  return onServer(async (admin, name) => {
    await admin.query(`alter database ${name} allow_connections false`);
    await admin.query('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [name]);
  }, database);
}

export function letInAgain(database: TestDatabase): Promise<void> {
  return onServer(async (admin, name) => {
    await admin.query(`alter database ${name} allow_connections true`);
  }, database);
}

async function onServer(
  work: (admin: pg.Client, name: string) => Promise<void>,
  database: TestDatabase,
): Promise<void> {
  const admin = new pg.Client(inject('adminDatabaseUrl'));
  await admin.connect();
  try {
    await work(admin, new URL(database.url).pathname.slice(1));
  } finally {
    await admin.end();
  }
}
