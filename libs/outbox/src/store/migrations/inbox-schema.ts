import { identifier, resolveSchema } from '../../config/index.js';
import { ConfigurationError } from '../../errors/index.js';
import { type InboxNames, inboxNames, sqliteInboxNames } from '../table-names.js';
import { inboxComponent, sqliteInboxComponent } from './inbox-component.js';
import type { SchemaComponent } from './schema-component.js';
import { componentSql } from './schema-sql.js';
import { componentMigrations, type MigrationClass } from './typeorm-migrations.js';

/** Room for what is appended to the table's name to name its indexes. */
const MAX_TABLE_BYTES = 48;

export interface InboxSchemaOptions {
  /** Default `public`. */
  readonly schema?: string;
  /** Default `processed_events`; at most 48 bytes. */
  readonly table?: string;
}

export interface InboxMigrationOptions extends InboxSchemaOptions {
  /** Default `postgres`. SQLite has no schemas. */
  readonly database?: 'postgres' | 'sqlite';
}

/** @throws ConfigurationError when PostgreSQL could not take a name as it is. */
export function resolveInboxNames(options: InboxSchemaOptions = {}): InboxNames {
  return inboxNames(resolveSchema(options.schema), tableOf(options));
}

/** Migration classes for the `migrations` of a DataSource, one for each version of the consuming side's table. */
export function inboxMigrations(options: InboxMigrationOptions = {}): MigrationClass[] {
  return componentMigrations(componentOf(options));
}

/** The table of the consuming side as one SQL text, for people who migrate with another tool. */
export function inboxSchemaSql(options: InboxMigrationOptions = {}): string {
  return componentSql(componentOf(options));
}

/** @throws ConfigurationError for a schema on SQLite, and for names that the database could not take. */
export function sqliteInbox(options: InboxSchemaOptions): { names: InboxNames; component: SchemaComponent } {
  if (options.schema !== undefined) {
    throw new ConfigurationError(`"schema" is "${options.schema}", but SQLite has no schemas. Leave it out.`);
  }
  const names = sqliteInboxNames(tableOf(options));
  return { names, component: sqliteInboxComponent(names) };
}

function componentOf({ database, ...tables }: InboxMigrationOptions): SchemaComponent {
  return database === 'sqlite' ? sqliteInbox(tables).component : inboxComponent(resolveInboxNames(tables));
}

function tableOf({ table }: InboxSchemaOptions): string {
  return identifier('table', table ?? 'processed_events', MAX_TABLE_BYTES);
}
