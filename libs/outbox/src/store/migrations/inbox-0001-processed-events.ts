import type { InboxNames } from '../table-names.js';
import type { SchemaStep } from './schema-component.js';

/**
 * One row for each event that a consumer has processed. The primary key is what makes a second delivery wait, and then
 * find out; collation "C", so that an upgrade of the operating system's collations cannot damage it. The index on the
 * time serves the deletion of old rows, oldest first.
 *
 * Beside it one row for each message that failed: how often, why, and, once it is parked, the message itself as it came.
 */
export function processedEvents(names: InboxNames): SchemaStep {
  return {
    version: 1,
    compatibleFrom: 1,
    name: 'processed-events',
    up: [
      `create table ${names.processed} (
  consumer_name varchar(100) collate "C" not null,
  event_id varchar(255) collate "C" not null,
  event_type varchar(255) not null,
  content_digest bytea not null,
  result jsonb,
  processed_at timestamptz not null default clock_timestamp(),
  primary key (consumer_name, event_id)
)`,
      `create index ${names.index('processed_at')} on ${names.processed} (processed_at)`,
      `create table ${names.failed} (
  id bigint generated always as identity primary key,
  consumer_name varchar(100) collate "C" not null,
  message_id varchar(255) collate "C" not null,
  event_type varchar(255),
  attempts integer not null default 1,
  last_error text not null,
  failed_at timestamptz not null default clock_timestamp(),
  parked_at timestamptz,
  source text,
  content_type text,
  headers jsonb,
  body bytea,
  unique (consumer_name, message_id)
)`,
      `create index ${names.index('failed_at')} on ${names.failed} (failed_at)`,
    ],
    down: [`drop table ${names.failed}, ${names.processed}`],
  };
}
