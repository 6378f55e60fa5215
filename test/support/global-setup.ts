import { type EmbeddedPostgres, startEmbeddedPostgres } from 'embedded-postgres-server';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  interface ProvidedContext {
    /** Superuser connection to the server of this run; `createTestDatabase()` makes databases there. */
    adminDatabaseUrl: string;
  }
}

/** One PostgreSQL server for the whole run: the one that DATABASE_URL names, else an embedded one. */
export default async function provideDatabaseServer(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  const given = process.env.DATABASE_URL;
  const embedded: EmbeddedPostgres | undefined = given ? undefined : await startEmbeddedPostgres();
  project.provide('adminDatabaseUrl', given || (embedded?.url ?? ''));
  return embedded && (() => embedded.stop());
}
