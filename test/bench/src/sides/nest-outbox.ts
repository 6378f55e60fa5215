import 'reflect-metadata';
import { createRequire } from 'node:module';
import { OnEvent, OutboxModule } from '@fullstackhouse/nestjs-outbox';
import { RetryableOutboxEventPoller } from '@fullstackhouse/nestjs-outbox/dist/poller/retryable-outbox-event.poller.js';
import {
  OutboxTransportEventMigrations,
  TypeORMDatabaseDriverFactory,
  TypeOrmOutboxTransportEvent,
} from '@fullstackhouse/nestjs-outbox-typeorm-driver';
import { Injectable } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { DataSourceOptions } from 'typeorm';
import type { BenchDatabase } from '../measure/bench-server.js';
import { FILLER } from './bench-events.js';
import { HandledCount, type Peer } from './peer.js';

const EVENT = 'bench.noted';
const A_DAY_MS = 86_400_000;

export interface NestOutboxSettings {
  readonly maxEventsPerPoll: number;
  readonly connections: number;
}

/** The type of DataSource that the driver's own TypeORM, an older major than ours, has. */
type DriverDataSource = ConstructorParameters<typeof TypeORMDatabaseDriverFactory>[0];

/** The TypeORM that the driver depends on and brings along. */
function driverTypeOrm(): { DataSource: new (options: DataSourceOptions) => DriverDataSource } {
  const require = createRequire(import.meta.url);
  return createRequire(require.resolve('@fullstackhouse/nestjs-outbox-typeorm-driver'))('typeorm');
}

/** One by one: TypeORM refuses to run them, because the names of two of them do not end in a time in milliseconds. */
async function migrate(dataSource: DriverDataSource): Promise<void> {
  const queryRunner = dataSource.createQueryRunner();
  for (const Migration of OutboxTransportEventMigrations) await new Migration().up(queryRunner);
  await queryRunner.release();
}

/**
 * The Nest package of the same purpose, with its TypeORM driver and without its logger. Its poller is called by hand:
 * the same that its timer calls, which goes on until nothing is due.
 */
export async function startNestOutbox(
  database: BenchDatabase,
  { maxEventsPerPoll, connections }: NestOutboxSettings = { maxEventsPerPoll: 100, connections: 20 },
): Promise<Peer> {
  const dataSource = new (driverTypeOrm().DataSource)({
    type: 'postgres',
    url: database.url,
    entities: [TypeOrmOutboxTransportEvent],
    poolSize: connections,
  });
  await dataSource.initialize();
  await migrate(dataSource);

  let handled: HandledCount | undefined;
  @Injectable()
  class NotedListener {
    @OnEvent(EVENT)
    async note(): Promise<void> {
      handled?.add();
    }
  }
  const module = {
    module: class NestOutboxBenchModule {},
    imports: [
      OutboxModule.registerAsync({
        imports: [],
        enableDefaultMiddlewares: false,
        useFactory: () => ({
          driverFactory: new TypeORMDatabaseDriverFactory(dataSource),
          events: [
            {
              name: EVENT,
              listeners: { retentionPeriod: A_DAY_MS, maxExecutionTime: 15_000, retryStrategy: () => 60_000 },
            },
          ],
          pollingInterval: A_DAY_MS,
          maxEventsPerPoll,
        }),
      }),
    ],
    providers: [NotedListener],
  };
  const app = await NestFactory.createApplicationContext(module, { logger: ['error', 'warn'] });
  const poller = app.get(RetryableOutboxEventPoller, { strict: false });
  return {
    async fill(events) {
      await database.query('truncate outbox_transport_event');
      await database.query(
        `insert into outbox_transport_event
           (event_name, event_payload, expire_at, attempt_at, inserted_at, delivered_to_listeners)
         select $1::text, json_build_object('name', $1::text, 'benchId', n::text, 'number', n, 'filler', $2::text),
           now_ms + $4::bigint, now_ms, now_ms, '[]'
         from generate_series(1, $3::int) n, (select (extract(epoch from clock_timestamp()) * 1000)::bigint as now_ms) t`,
        [EVENT, FILLER, events, A_DAY_MS],
      );
      await database.query('vacuum analyze outbox_transport_event');
    },
    async drain(events) {
      const counting = new HandledCount(events);
      handled = counting;
      await poller.poolRetryableEvents();
      return counting.perSecond(database, 'select exists (select from outbox_transport_event) as is_left');
    },
    async close() {
      await app.close();
      await dataSource.destroy();
    },
  };
}
