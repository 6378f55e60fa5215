import { DataSource } from 'typeorm';
import type { Environment } from '../environment.js';
import { dataSourceOptions } from './data-source-options.js';
import { explainDatabaseFailure } from './explain-database-failure.js';

/** Any number, the same in every process of this application. */
const MIGRATION_LOCK = 1_764_300_001;

/** Connects, and brings the tables up to date unless MIGRATIONS=skip. */
export async function openDatabase({ DATABASE_URL, MIGRATIONS }: Environment): Promise<DataSource> {
  const dataSource = new DataSource(dataSourceOptions(DATABASE_URL));
  try {
    await dataSource.initialize();
  } catch (error) {
    throw explainDatabaseFailure(error, DATABASE_URL);
  }
  try {
    if (MIGRATIONS === 'run') await runMigrationsAlone(dataSource);
    return dataSource;
  } catch (error) {
    await dataSource.destroy();
    throw error;
  }
}

/**
 * TypeORM lets two processes that start at once run the same migration twice, and one of them fails. So the first one
 * holds a lock and the others wait, then find nothing left to do. The lock goes with its transaction, whatever happens.
 */
async function runMigrationsAlone(dataSource: DataSource): Promise<void> {
  await dataSource.transaction(async (manager) => {
    await manager.query('select pg_advisory_xact_lock($1)', [MIGRATION_LOCK]);
    await dataSource.runMigrations();
  });
}
