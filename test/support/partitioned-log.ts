import { DataSourceClient, PostgresPartitionStore, Turns } from '../../libs/outbox/src/store/index.js';
import type { OutboxApp } from './outbox-app.js';
import { tableNames } from './outbox-queue.js';

export const DAY_MS = 86_400_000;

/** What events that are logged by hand have become. */
export interface LoggedEvents {
  readonly daysAgo: number;
  readonly delivered?: number;
  readonly pending?: number;
  readonly dead?: number;
  /** When they were written by the database's clock; default the same time as that of their ids. */
  readonly writtenDaysAgo?: number;
}

/** Bare name of the partition of a day. */
export function partitionOf(daysAgo: number): string {
  return `outbox_event_p${new Date(Date.now() - daysAgo * DAY_MS).toISOString().slice(0, 10).replaceAll('-', '')}`;
}

/** Makes the partition of a day, also of one that is over, on a log that is partitioned. */
export async function makeDay({ dataSource }: OutboxApp, daysAgo: number): Promise<void> {
  const client = new DataSourceClient(dataSource);
  const store = new PostgresPartitionStore(client, tableNames, new Turns(dataSource, 'test'));
  await store.makeDay(Math.floor(Date.now() / DAY_MS - daysAgo) * DAY_MS, 10_000);
}

/** Events with ids of the noon of a day, as processes of then would have left them. */
export async function logEvents({ database }: OutboxApp, events: LoggedEvents): Promise<void> {
  const { daysAgo, delivered = 0, pending = 0, dead = 0, writtenDaysAgo = daysAgo } = events;
  const noonMs = (Math.floor(Date.now() / DAY_MS - daysAgo) + 0.5) * DAY_MS;
  await database.query(
    `with logged as (
       insert into outbox_event (id, aggregatetype, aggregateid, type, payload, destinations, created_at)
       select (lpad(to_hex($1::bigint), 12, '0') || '7' || substr(md5(random()::text), 1, 3) || '8' || substr(md5(random()::text), 1, 15))::uuid,
         'order', 'o' || n, 'order.noted', '{"orderId":"00000000-0000-4000-8000-000000000000","amountCents":1}', '{memory}',
         now() - $2::int * interval '1 day'
       from generate_series(1, $3::int + $4::int + $5::int) n returning id
     ), numbered as (select id, row_number() over () as place from logged)
     insert into outbox_delivery (event_id, destination, payload_bytes, status)
     select id, 'memory', 10, case when place <= $3 then 0 else 1 end from numbered where place <= $3 + $4`,
    [noonMs, writtenDaysAgo, pending, dead, delivered],
  );
}

/** Bare names of the tables that the log consists of, the oldest first. */
export async function partitionsOf({ database }: OutboxApp): Promise<string[]> {
  const rows = await database.query<{ name: string }>(
    `select inhrelid::regclass::text as name from pg_inherits where inhparent = 'outbox_event'::regclass order by name`,
  );
  return rows.map(({ name }) => name);
}
