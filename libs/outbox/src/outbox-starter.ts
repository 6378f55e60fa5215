import type { OnApplicationShutdown, OnModuleInit } from '@nestjs/common';
import type { DataSource } from 'typeorm';
import type { ResolvedOptions } from './config/index.js';
import { checkAtStart, examinedAt } from './ops/index.js';
import { ensureSchema, type OutboxNames, outboxComponent, ownTables } from './store/index.js';

/** Owns the tables for the life of the application and makes sure, at its start, that they fit this library. */
export class OutboxStarter implements OnModuleInit, OnApplicationShutdown {
  private readonly givingUp: readonly (() => void)[];

  constructor(
    private readonly dataSource: DataSource,
    private readonly names: OutboxNames,
    private readonly options: ResolvedOptions,
    /** Name of the DataSource when this outbox is everybody's: another one would be injected, or not, by chance. */
    scope: string | undefined,
  ) {
    const owned = [names.event, ...(scope === undefined ? [] : [scope])];
    this.givingUp = owned.map((what) => ownTables(dataSource, 'OutboxModule', what));
  }

  async onModuleInit(): Promise<void> {
    await ensureSchema(this.dataSource, outboxComponent(this.names), this.options.migrate);
    await checkAtStart(examinedAt(this.dataSource, { names: this.names, options: this.options }), this.options);
  }

  onApplicationShutdown(): void {
    for (const giveUp of this.givingUp) giveUp();
  }
}
