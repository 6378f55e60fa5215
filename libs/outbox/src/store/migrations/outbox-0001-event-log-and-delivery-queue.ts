import type { OutboxNames } from '../table-names.js';
import type { SchemaStep } from './schema-component.js';

/**
 * The insert-only event log (Debezium's Outbox Event Router can be pointed at it), the narrow delivery queue, the lanes
 * that keep order, the counters of ordered aggregates, and what is known of each destination's reachability.
 *
 * What keeps the queue fast: no column that a claim changes is part of an index key or predicate, so claims are HOT
 * updates; pages are filled to 40 %, because a claimed row is longer, by its owner and its lease; autovacuum comes early
 * because rows live for milliseconds.
 */
export function eventLogAndDeliveryQueue(names: OutboxNames): SchemaStep {
  return {
    version: 1,
    compatibleFrom: 1,
    name: 'event-log-and-delivery-queue',
    up: [
      eventLog(names),
      `create index ${names.index('event', 'created_at')} on ${names.event} using brin (created_at)`,
      `create sequence ${names.token} as bigint`,
      deliveryQueue(names),
      `create unique index ${names.index('delivery', 'event')} on ${names.delivery} (event_id, destination)`,
      `create index ${names.index('delivery', 'unordered')} on ${names.delivery} (destination, available_at, id) where status = 0 and lane is null`,
      `create index ${names.index('delivery', 'lane')} on ${names.delivery} (destination, lane, id) where status = 0 and lane is not null`,
      `create index ${names.index('delivery', 'holding')} on ${names.delivery} (destination, lane, ordering_key) where holds_key`,
      `create index ${names.index('delivery', 'dead')} on ${names.delivery} (destination, id) where status = 1`,
      `create table ${names.archive} (
  id bigint primary key,
  event_id uuid not null,
  destination varchar(100) not null,
  attempts integer not null,
  done_at timestamptz not null
)`,
      `create table ${names.lane} (
  destination varchar(100) not null,
  lane smallint not null,
  lease_owner text,
  lease_until timestamptz,
  lease_version bigint not null default 0,
  revision bigint not null default 0,
  claimed_at timestamptz not null default 'epoch',
  primary key (destination, lane)
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0)`,
      `create table ${names.aggregate} (
  aggregatetype varchar(255) not null,
  aggregateid varchar(255) not null,
  sequence bigint not null,
  primary key (aggregatetype, aggregateid)
) with (fillfactor = 80)`,
      `create table ${names.destination} (
  destination varchar(100) primary key,
  failures integer not null default 0,
  resume_at timestamptz not null default 'epoch',
  last_error text
) with (fillfactor = 50)`,
      firstStatusView(names),
    ],
    down: [
      `drop view ${names.status}`,
      `drop table ${names.destination}, ${names.aggregate}, ${names.lane}, ${names.archive}, ${names.delivery}, ${names.event}`,
      `drop sequence ${names.token}`,
    ],
  };
}

function eventLog(names: OutboxNames): string {
  return `create table ${names.event} (
  id uuid primary key,
  aggregatetype varchar(255) not null,
  aggregateid varchar(255) not null,
  type varchar(255) not null,
  payload jsonb,
  headers jsonb not null default '{}',
  version integer not null default 1,
  sequence bigint,
  destinations text[] not null,
  created_at timestamptz not null default clock_timestamp()
)`;
}

function deliveryQueue(names: OutboxNames): string {
  return `create table ${names.delivery} (
  id bigint generated always as identity primary key,
  event_id uuid not null,
  destination varchar(100) not null,
  ordering_key bigint,
  lane smallint,
  status smallint not null default 0 check (status in (0, 1, 2)),
  holds_key boolean not null default false,
  payload_bytes integer not null,
  attempts integer not null default 0,
  redrives integer not null default 0,
  available_at timestamptz not null default clock_timestamp(),
  lease_owner text,
  lease_until timestamptz,
  lease_version bigint not null default 0,
  last_error text,
  created_at timestamptz not null default clock_timestamp(),
  done_at timestamptz,
  check ((ordering_key is null) = (lane is null))
) with (
  fillfactor = 40,
  autovacuum_vacuum_scale_factor = 0.02,
  autovacuum_vacuum_insert_scale_factor = 0.05,
  autovacuum_analyze_scale_factor = 0.05,
  autovacuum_vacuum_cost_delay = 0
)`;
}

/** A delivered event whose delivery row was deleted is done for every destination that it was stored for. */
export function firstStatusView(names: OutboxNames): string {
  return `create view ${names.status} as
select e.id as event_id, e.type, e.aggregatetype, e.aggregateid, e.sequence, t.destination,
  case
    when d.status = 1 then 'dead'
    when d.status = 0 and d.lease_until > clock_timestamp() then 'processing'
    when d.status = 0 then 'pending'
    else 'done'
  end as state,
  coalesce(d.attempts, a.attempts) as attempts,
  d.last_error,
  case when d.status = 0 then d.available_at end as available_at,
  e.created_at,
  coalesce(d.done_at, a.done_at) as done_at
from ${names.event} e
cross join lateral unnest(e.destinations) as t(destination)
left join ${names.delivery} d on d.event_id = e.id and d.destination = t.destination
left join ${names.archive} a on a.event_id = e.id and a.destination = t.destination and d.id is null`;
}
