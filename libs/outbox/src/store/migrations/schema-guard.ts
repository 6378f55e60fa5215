import { Logger } from '@nestjs/common';
import type { DataSource } from 'typeorm';
import type { MigrateMode } from '../../config/index.js';
import { DatabaseUnreachableError, SchemaVersionError } from '../../errors/index.js';
import { logLine } from '../../runtime/index.js';
import { outsideTransaction } from '../../transaction/index.js';
import { applyStep, type SchemaVersion, versionIn } from './apply-step.js';
import { hasDefaultNames, latestVersion, type SchemaComponent } from './schema-component.js';

/**
 * Makes sure, while the application starts, that the tables are those that this version of the library needs.
 *
 * Newer tables are fine when they say so: in a rolling deployment, or after going back, old code meets new tables.
 *
 * @throws SchemaVersionError with what to run, when they are not and `mode` does not allow to change them.
 * @throws DatabaseUnreachableError when the database does not answer.
 */
export async function ensureSchema(
  dataSource: DataSource,
  component: SchemaComponent,
  mode: MigrateMode,
): Promise<void> {
  if (mode === 'off') return;
  const needed = latestVersion(component);
  const found = await reachable(() => readVersion(dataSource, component));
  if (found.version === needed) return;
  if (found.version > needed) {
    if (found.compatibleFrom > needed) throw newerThanLibrary(component, found.version, needed);
    new Logger('OutboxSchema').log(
      logLine('tables are newer than this library, and it can work with them', {
        component: component.name,
        ...found,
        needed,
      }),
    );
    return;
  }
  if (mode === 'verify') throw olderThanLibrary(component, found.version, needed);
  await migrate(dataSource, component);
}

/** Brings the tables to the newest version, one transaction a step. Several processes may do it at once. */
export async function migrate(dataSource: DataSource, component: SchemaComponent): Promise<void> {
  for (const step of component.steps) {
    await outsideTransaction(() => dataSource.transaction((manager) => applyStep(manager, component, step)));
  }
}

/** Zero when the tables are not there. Changes nothing. */
export function readVersion(dataSource: DataSource, component: SchemaComponent): Promise<SchemaVersion> {
  return outsideTransaction(() => versionIn(dataSource, component));
}

async function reachable<T>(ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    throw new DatabaseUnreachableError(
      'the outbox could not ask PostgreSQL for its schema version. Check that the server runs and that the DataSource may read the schema.',
      error,
    );
  }
}

function olderThanLibrary(component: SchemaComponent, found: number, needed: number): SchemaVersionError {
  const state = found === 0 ? 'are missing' : `have version ${found}, this library needs ${needed}`;
  const generator = component.name === 'outbox' ? 'outboxMigrations' : 'inboxMigrations';
  const names = component.name === 'outbox' ? '{ schema, tables }' : '{ schema, table }';
  const options = hasDefaultNames(component) ? '' : ` with the same ${names}`;
  return new SchemaVersionError(
    `the ${component.name} tables in schema ${component.schema} ${state}. Add ...${generator}()${options} to the migrations of the DataSource and run \`npx typeorm migration:run -d <your data source file>\`, or set migrate: 'auto' for development.`,
  );
}

function newerThanLibrary(component: SchemaComponent, found: number, needed: number): SchemaVersionError {
  return new SchemaVersionError(
    `the ${component.name} tables in schema ${component.schema} have version ${found}, this library knows only up to ${needed}. Install the version of nestjs-transactional-outbox that migrated them.`,
  );
}
