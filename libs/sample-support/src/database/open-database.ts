import { DataSource } from 'typeorm';
import { explainDatabaseFailure } from './explain-database-failure.js';
import type { SampleDatabase } from './sample-database.js';

/** Connects, and brings the tables up to date unless the mode is `skip`. */
export async function openDatabase(database: SampleDatabase): Promise<DataSource> {
  const { url, dataSourceOptions, migrations, migrationLock } = database;
  const dataSource = new DataSource(dataSourceOptions(url));
  try {
    await dataSource.initialize();
  } catch (error) {
    throw explainDatabaseFailure(error, url);
  }
  try {
    if (migrations === 'run') await runMigrationsAlone(dataSource, migrationLock);
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
async function runMigrationsAlone(dataSource: DataSource, lock: number): Promise<void> {
  await dataSource.transaction(async (manager) => {
    await manager.query('select pg_advisory_xact_lock($1)', [lock]);
    await dataSource.runMigrations();
  });
}
