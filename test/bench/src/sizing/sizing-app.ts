import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import { TypeOrmModule } from '@nestjs/typeorm';
import {
  type DispatcherOptions,
  OutboxDispatcher,
  OutboxModule,
  OutboxService,
  type Transport,
} from 'nestjs-transactional-outbox';
import { DataSource } from 'typeorm';
import type { BenchDatabase } from '../measure/bench-server.js';
import { BenchNoted } from '../sides/bench-events.js';
import { CountingTransport } from '../sides/counting-transport.js';

export interface SizingOptions {
  readonly destinations?: readonly string[];
  readonly batchSize?: number;
  readonly transport?: Transport;
  readonly dispatcher?: DispatcherOptions;
}

export interface SizingApp {
  readonly dataSource: DataSource;
  readonly outbox: OutboxService;
  readonly dispatcher: OutboxDispatcher;
  close(): Promise<void>;
}

/** The library with as many destinations as asked for; nothing runs by itself unless the dispatcher is told to. */
export async function startSizingApp(database: BenchDatabase, options: SizingOptions = {}): Promise<SizingApp> {
  const { destinations = ['first'], batchSize = 100, transport = new CountingTransport() } = options;
  const module = {
    module: class SizingModule {},
    imports: [
      TypeOrmModule.forRoot({ type: 'postgres', url: database.url }),
      OutboxModule.forRoot({
        destinations: Object.fromEntries(destinations.map((name) => [name, { transport, batchSize }])),
        routes: [{ events: [BenchNoted], to: destinations }],
        migrate: 'auto',
        dispatcher: options.dispatcher ?? { schedule: false, wakeUp: false },
      }),
    ],
  };
  const app = await NestFactory.createApplicationContext(module, { logger: ['error'] });
  return {
    dataSource: app.get(DataSource),
    outbox: app.get(OutboxService),
    dispatcher: app.get(OutboxDispatcher),
    close: () => app.close(),
  };
}
