import { identifier, resolveSchema } from '../../config/index.js';
import { type InboxNames, inboxNames } from '../table-names.js';
import { inboxComponent } from './inbox-component.js';
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

/** @throws ConfigurationError when PostgreSQL could not take a name as it is. */
export function resolveInboxNames(options: InboxSchemaOptions = {}): InboxNames {
  return inboxNames(
    resolveSchema(options.schema),
    identifier('table', options.table ?? 'processed_events', MAX_TABLE_BYTES),
  );
}

/** Migration classes for the `migrations` of a DataSource, one for each version of the consuming side's table. */
export function inboxMigrations(options: InboxSchemaOptions = {}): MigrationClass[] {
  return componentMigrations(inboxComponent(resolveInboxNames(options)));
}

/** The table of the consuming side as one SQL text, for people who migrate with another tool. */
export function inboxSchemaSql(options: InboxSchemaOptions = {}): string {
  return componentSql(inboxComponent(resolveInboxNames(options)));
}
