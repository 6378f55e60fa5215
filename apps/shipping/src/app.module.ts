import { type DynamicModule, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { InboxModule } from 'nestjs-transactional-outbox';
import { dataSourceOptions } from './database/data-source-options.js';
import { openDatabase } from './database/open-database.js';
import type { Environment } from './environment.js';
import { InventoryModule } from './inventory/inventory.module.js';
import { ReceiptsModule } from './receipts/receipts.module.js';
import { ShipmentsModule } from './shipments/shipments.module.js';

@Module({})
class AppModule {}

export function appModule(environment: Environment): DynamicModule {
  return {
    module: AppModule,
    imports: [
      TypeOrmModule.forRootAsync({
        // A process that cannot start ends, and whoever runs it starts it again; so nothing is tried again here.
        useFactory: () => ({ ...dataSourceOptions(environment.DATABASE_URL), toRetry: () => false }),
        dataSourceFactory: () => openDatabase(environment),
      }),
      InboxModule.forRoot({ secret: environment.WEBHOOK_SECRET }),
      ShipmentsModule,
      InventoryModule,
      ReceiptsModule,
    ],
  };
}
