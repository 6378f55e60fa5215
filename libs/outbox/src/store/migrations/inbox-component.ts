import type { InboxNames } from '../table-names.js';
import { componentKey } from './component-key.js';
import { processedEvents } from './inbox-0001-processed-events.js';
import { processedEventsOnSqlite } from './inbox-0001-processed-events-sqlite.js';
import type { SchemaComponent } from './schema-component.js';
import { postgresDialect, sqliteDialect } from './schema-dialect.js';

/** The consuming side's table. A step that was released is never changed; changes come as new steps. */
export function inboxComponent(names: InboxNames): SchemaComponent {
  return {
    name: 'inbox',
    key: componentKey('inbox', names.schema, [names.processed], ['"processed_events"']),
    dialect: postgresDialect,
    schema: names.schema,
    versionTable: names.version,
    steps: [processedEvents(names)],
  };
}

/** The same table on SQLite, for a consumer with a small store of its own. */
export function sqliteInboxComponent(names: InboxNames): SchemaComponent {
  return {
    name: 'inbox',
    key: componentKey('inbox', names.schema, [names.processed], ['"processed_events"']),
    dialect: sqliteDialect,
    schema: names.schema,
    versionTable: names.version,
    steps: [processedEventsOnSqlite(names)],
  };
}
