import type { DynamicModule } from '@nestjs/common';
import { InboxModule } from 'nestjs-transactional-outbox';
import { consumerModules, shippingEntities, shippingMigrations } from 'shipping-app';
import type { DataSourceOptions } from 'typeorm';
import { dataSourceOptions } from './database/data-source-options.js';

// With TRANSPORT=in-process, shipping and inventory are modules of this application and live in its database. Their
// handlers run where the dispatcher runs.

export function modulesInside(): DynamicModule[] {
  // Nothing comes from outside, so there is no sender to know by a signature.
  return [InboxModule.forRoot({ allowUnsigned: true }), ...consumerModules({ kind: 'in-process' })];
}

export function monolithDataSourceOptions(url: string): DataSourceOptions {
  const own = dataSourceOptions(url);
  return {
    ...own,
    entities: [...own.entities, ...shippingEntities],
    migrations: [...own.migrations, ...shippingMigrations()],
  };
}
