import type { OnApplicationShutdown, OnModuleInit } from '@nestjs/common';
import type { DataSource } from 'typeorm';
import type { ResolvedOptions } from './config/index.js';
import { ensureSchema, type OutboxNames, outboxComponent, ownTables } from './store/index.js';

/** Owns the tables for the life of the application and makes sure, at its start, that they fit this library. */
export class OutboxStarter implements OnModuleInit, OnApplicationShutdown {
  private readonly giveUp: () => void;

  constructor(
    private readonly dataSource: DataSource,
    private readonly names: OutboxNames,
    private readonly options: ResolvedOptions,
  ) {
    this.giveUp = ownTables(dataSource, 'OutboxModule', names.event);
  }

  async onModuleInit(): Promise<void> {
    await ensureSchema(this.dataSource, outboxComponent(this.names), this.options.migrate);
  }

  onApplicationShutdown(): void {
    this.giveUp();
  }
}
