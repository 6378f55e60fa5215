import type { DataSource } from 'typeorm';
import { ConfigurationError } from '../errors/index.js';
import { DataSourceClient } from './data-source-client.js';
import { DatabaseFailedMessageStore } from './database-failed-message-store.js';
import type { FailedMessageStore } from './failed-message-store.js';
import { type InboxBacklogStore, postgresInboxBacklog, sqliteInboxBacklog } from './inbox-backlog-store.js';
import type { InboxStore } from './inbox-store.js';
import { inboxComponent } from './migrations/inbox-component.js';
import { type InboxSchemaOptions, resolveInboxNames, sqliteInbox } from './migrations/inbox-schema.js';
import type { SchemaComponent } from './migrations/schema-component.js';
import { PostgresInboxStore } from './postgres-inbox-store.js';
import {
  type ProcessedEventRetention,
  postgresProcessedEventRetention,
  sqliteProcessedEventRetention,
} from './processed-event-retention.js';
import { SqliteInboxStore } from './sqlite-inbox-store.js';
import { Turns } from './turns.js';

/** The inbox on the database of one DataSource. */
export interface InboxDatabase {
  readonly store: InboxStore;
  readonly component: SchemaComponent;
  readonly retention: ProcessedEventRetention;
  readonly failed: FailedMessageStore;
  readonly backlog: InboxBacklogStore;
  /** Quoted name of the table, by which two inboxes are told apart. */
  readonly table: string;
}

const SQLITE_TYPES: ReadonlySet<string> = new Set(['better-sqlite3', 'sqlite', 'sqljs']);

/** @throws ConfigurationError for a database that has no inbox yet, or an option that it has no use for. */
export function inboxDatabaseOf(
  dataSource: DataSource,
  options: InboxSchemaOptions,
  statements: { readonly preparesStatements: boolean },
): InboxDatabase {
  const { type } = dataSource.options;
  const client = new DataSourceClient(dataSource);
  if (type === 'postgres') {
    const names = resolveInboxNames(options);
    return {
      store: new PostgresInboxStore(names, statements),
      component: inboxComponent(names),
      retention: postgresProcessedEventRetention(new Turns(dataSource, `retention of ${names.processed}`), names),
      failed: DatabaseFailedMessageStore.onPostgres(client, names),
      backlog: postgresInboxBacklog(client, names),
      table: names.processed,
    };
  }
  if (SQLITE_TYPES.has(type)) {
    const { names, component } = sqliteInbox(options);
    return {
      store: new SqliteInboxStore(names),
      component,
      retention: sqliteProcessedEventRetention(client, names),
      failed: DatabaseFailedMessageStore.onSqlite(client, names),
      backlog: sqliteInboxBacklog(client, names),
      table: names.processed,
    };
  }
  throw new ConfigurationError(
    `the inbox needs PostgreSQL or SQLite, but the DataSource is "${type}". Give InboxModule another "dataSource".`,
  );
}
