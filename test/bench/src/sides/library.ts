import 'reflect-metadata';
import { type INestApplicationContext, type Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { TypeOrmModule } from '@nestjs/typeorm';
import {
  type DestinationOptions,
  type DispatcherOptions,
  OutboxDispatcher,
  OutboxModule,
  OutboxService,
} from 'nestjs-transactional-outbox';
import { DataSource, type EntitySchema } from 'typeorm';
import type { BenchDatabase } from '../measure/bench-server.js';
import { BenchNoted, BenchStepped } from './bench-events.js';

export const DESTINATION = 'bench';

export interface LibraryOptions {
  readonly destination: DestinationOptions;
  /** Default: by hand, nothing runs by itself. */
  readonly dispatcher?: DispatcherOptions;
  readonly entities?: readonly (EntitySchema | Type)[];
  readonly poolSize?: number;
  readonly providers?: readonly Type[];
}

export interface Library {
  readonly app: INestApplicationContext;
  readonly dataSource: DataSource;
  readonly outbox: OutboxService;
  readonly dispatcher: OutboxDispatcher;
  close(): Promise<void>;
}

/** A Nest application with the library in it, built and driven as a user's would be. */
export async function startLibrary(database: Pick<BenchDatabase, 'url'>, options: LibraryOptions): Promise<Library> {
  const entities = [...(options.entities ?? [])];
  const module = {
    module: class BenchModule {},
    imports: [
      TypeOrmModule.forRoot({
        type: 'postgres',
        url: database.url,
        entities,
        synchronize: entities.length > 0,
        poolSize: options.poolSize ?? 10,
      }),
      OutboxModule.forRoot({
        destinations: { [DESTINATION]: options.destination },
        routes: [{ events: [BenchNoted, BenchStepped], to: [DESTINATION] }],
        migrate: 'auto',
        dispatcher: options.dispatcher ?? { schedule: false },
      }),
    ],
    providers: [...(options.providers ?? [])],
  };
  const app = await NestFactory.createApplicationContext(module, { logger: ['error', 'warn'] });
  return {
    app,
    dataSource: app.get(DataSource),
    outbox: app.get(OutboxService),
    dispatcher: app.get(OutboxDispatcher),
    close: () => app.close(),
  };
}
