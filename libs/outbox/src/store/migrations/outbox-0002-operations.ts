import type { OutboxNames } from '../table-names.js';
import { firstStatusView } from './outbox-0001-event-log-and-delivery-queue.js';
import type { SchemaStep } from './schema-component.js';
import { statusView } from './status-view.js';

/**
 * What people who operate an outbox see and do: destinations that are paused by hand, how much goes through each, the failed
 * attempts of a delivery, what was given up on purpose, and a record of every change by hand.
 */
export function operations(names: OutboxNames): SchemaStep {
  return {
    version: 2,
    name: 'operations',
    // Columns with defaults only: a library that does not know them goes on as before. It does not heed a pause.
    compatibleFrom: 1,
    up: [
      `alter table ${names.destination}
  add column paused_at timestamptz,
  add column paused_by text,
  add column pause_reason text,
  add column delivered bigint not null default 0,
  add column progressed_at timestamptz`,
      `alter table ${names.delivery} add column history jsonb`,
      `alter table ${names.archive} add column outcome text not null default 'delivered'
  check (outcome in ('delivered', 'discarded'))`,
      `create index ${names.index('delivery', 'archived')} on ${names.archive} (event_id, destination)`,
      `create table ${names.operation} (
  id integer generated always as identity primary key,
  at timestamptz not null default clock_timestamp(),
  actor text not null,
  action text not null,
  reason text not null,
  details jsonb not null default '{}',
  affected integer not null
)`,
      `drop view ${names.status}`,
      statusView(names),
    ],
    down: [
      `drop view ${names.status}`,
      firstStatusView(names),
      `drop table ${names.operation}`,
      `drop index ${names.schema}.${names.index('delivery', 'archived')}`,
      `alter table ${names.archive} drop column outcome`,
      `alter table ${names.delivery} drop column history`,
      `alter table ${names.destination}
  drop column paused_at, drop column paused_by, drop column pause_reason, drop column delivered, drop column progressed_at`,
    ],
  };
}
