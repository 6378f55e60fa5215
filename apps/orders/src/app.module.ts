import { type DynamicModule, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { OutboxModule } from 'nestjs-transactional-outbox';
import { dataSourceOptions } from './database/data-source-options.js';
import { openDatabase } from './database/open-database.js';
import type { Environment } from './environment.js';
import { OrdersModule } from './orders/orders.module.js';
import { outboxOptions } from './outbox-options.js';

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
      OutboxModule.forRoot(outboxOptions(environment)),
      ...(environment.ROLE === 'dispatcher' ? [] : [OrdersModule]),
    ],
  };
}
