import type { DynamicModule, ModuleMetadata } from '@nestjs/common';
import { Test, type TestingModule } from '@nestjs/testing';
import { TypeOrmModule } from '@nestjs/typeorm';
import type { DestinationOptions, OutboxModuleOptions } from 'nestjs-transactional-outbox';
import { MemoryTransport } from 'nestjs-transactional-outbox/memory';
import { DataSource } from 'typeorm';
import { createTestDatabase, type TestDatabase } from './database.js';
import { type EntityClass, Order, OrderNoted, OrderStep, SkippableStep } from './outbox-app.js';

export interface TypeOrmOptions {
  /** Name of the DataSource; without one it is the default one. */
  readonly name?: string;
  readonly entities?: readonly EntityClass[];
  readonly applicationName?: string;
  /** For node-postgres. */
  readonly extra?: Readonly<Record<string, unknown>>;
}

/** What the tests of one file started; `end()` leaves nothing of it, not even of an application that failed midway. */
export class ModuleHarness {
  private readonly modules: TestingModule[] = [];
  private readonly dataSources: DataSource[] = [];
  private readonly databases: TestDatabase[] = [];

  async database(): Promise<TestDatabase> {
    const database = await createTestDatabase();
    this.databases.push(database);
    return database;
  }

  /** A DataSource that is connected already, so that a start which fails early leaves nothing half connected. */
  async dataSource(database: TestDatabase, options: TypeOrmOptions = {}): Promise<DataSource> {
    const dataSource = new DataSource({
      type: 'postgres',
      url: database.url,
      entities: [...(options.entities ?? [Order])],
      synchronize: true,
      applicationName: options.applicationName ?? 'module-test',
      extra: options.extra ?? {},
    });
    this.dataSources.push(dataSource);
    return dataSource.initialize();
  }

  /** A TypeOrmModule with such a DataSource. */
  async typeOrm(database: TestDatabase, options: TypeOrmOptions = {}): Promise<DynamicModule> {
    const dataSource = await this.dataSource(database, options);
    return TypeOrmModule.forRootAsync({
      ...(options.name === undefined ? {} : { name: options.name }),
      useFactory: () => ({ ...dataSource.options }),
      dataSourceFactory: async () => dataSource,
    });
  }

  /** Resolves when it is compiled: every provider is there, no hook has run. */
  async compile(metadata: ModuleMetadata): Promise<TestingModule> {
    const module = await Test.createTestingModule(metadata).compile();
    this.modules.push(module);
    return module;
  }

  /** Resolves when the application has started, rejects with what its start failed of. */
  async start(metadata: ModuleMetadata): Promise<TestingModule> {
    const module = await this.compile(metadata);
    return module.init();
  }

  async endApplications(): Promise<void> {
    for (const module of this.modules.splice(0).reverse()) await module.close();
  }

  async end(): Promise<void> {
    await this.endApplications();
    for (const source of this.dataSources.splice(0)) if (source.isInitialized) await source.destroy();
    for (const database of this.databases.splice(0)) await database.drop();
  }
}

/** One destination `memory` for all events of the tests, tables made at the start, no loop. */
export function outboxOptions(
  transport: DestinationOptions['transport'] = new MemoryTransport(),
  options: Partial<OutboxModuleOptions> = {},
): OutboxModuleOptions {
  return {
    destinations: { memory: { transport } },
    routes: [{ events: [OrderNoted, OrderStep, SkippableStep], to: ['memory'] }],
    migrate: 'auto',
    ...options,
    dispatcher: { schedule: false, ...options.dispatcher },
  };
}
