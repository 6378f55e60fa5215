import { type DynamicModule, Module } from '@nestjs/common';
import { OutboxModule } from 'nestjs-transactional-outbox';
import { databaseModule } from 'sample-support';
import { dashboard } from './dashboard/dashboard.js';
import { dataSourceOptions } from './database/data-source-options.js';
import type { Environment } from './environment.js';
import { OrdersModule } from './orders/orders.module.js';
import { outboxOptions } from './outbox-options.js';

@Module({})
class AppModule {}

export function appModule(environment: Environment): DynamicModule {
  return {
    module: AppModule,
    imports: [
      databaseModule({
        url: environment.DATABASE_URL,
        dataSourceOptions,
        migrations: environment.MIGRATIONS,
        migrationLock: 1_764_300_000,
      }),
      OutboxModule.forRoot(outboxOptions(environment)),
      ...(environment.ROLE === 'dispatcher' ? [] : [OrdersModule, ...dashboard(environment)]),
    ],
  };
}
