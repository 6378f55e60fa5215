import type { InboxNames } from '../table-names.js';
import type { SchemaStep } from './schema-component.js';

/** As on PostgreSQL, in SQLite's types. Without a row id, because the primary key is all that is looked up by. */
export function processedEventsOnSqlite(names: InboxNames): SchemaStep {
  return {
    version: 1,
    name: 'processed-events',
    up: [
      `create table ${names.processed} (
  consumer_name text not null,
  event_id text not null,
  event_type text not null,
  content_digest blob not null,
  result text,
  processed_at text not null default (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),
  primary key (consumer_name, event_id)
) without rowid`,
      `create index ${names.index('processed_at')} on ${names.processed} (processed_at)`,
    ],
    down: [`drop table ${names.processed}`],
  };
}
