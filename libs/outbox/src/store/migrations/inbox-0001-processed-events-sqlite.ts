import type { InboxNames } from '../table-names.js';
import type { SchemaStep } from './schema-component.js';

/** As on PostgreSQL, in SQLite's types. Without a row id, because the primary key is all that is looked up by. */
export function processedEventsOnSqlite(names: InboxNames): SchemaStep {
  return {
    version: 1,
    compatibleFrom: 1,
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
      `create table ${names.failed} (
  id integer primary key,
  consumer_name text not null,
  message_id text not null,
  event_type text,
  attempts integer not null default 1,
  last_error text not null,
  failed_at text not null default (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),
  parked_at text,
  source text,
  content_type text,
  headers text,
  body blob,
  unique (consumer_name, message_id)
)`,
      `create index ${names.index('failed_at')} on ${names.failed} (failed_at)`,
    ],
    down: [`drop table ${names.failed}`, `drop table ${names.processed}`],
  };
}
