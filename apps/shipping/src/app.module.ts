import { type DynamicModule, Module } from '@nestjs/common';
import { InboxModule } from 'nestjs-transactional-outbox';
import { databaseModule } from 'sample-support';
import { dataSourceOptions } from './database/data-source-options.js';
import type { Environment } from './environment.js';
import { InventoryModule } from './inventory/inventory.module.js';
import { ReceiptsModule } from './receipts/receipts.module.js';
import { ShipmentsModule } from './shipments/shipments.module.js';

@Module({})
class AppModule {}

/** @param surroundings modules that a process adds. */
export function appModule(environment: Environment, ...surroundings: readonly DynamicModule[]): DynamicModule {
  return {
    module: AppModule,
    imports: [
      databaseModule({
        url: environment.DATABASE_URL,
        dataSourceOptions,
        migrations: environment.MIGRATIONS,
        migrationLock: 1_764_300_001,
      }),
      InboxModule.forRoot({ secret: environment.WEBHOOK_SECRET }),
      ShipmentsModule,
      InventoryModule,
      ReceiptsModule,
      ...surroundings,
    ],
  };
}
