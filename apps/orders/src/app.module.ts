import { type DynamicModule, Module } from '@nestjs/common';
import { OutboxModule, type OutboxModuleOptions } from 'nestjs-transactional-outbox';
import { databaseModule } from 'sample-support';
import { dataSourceOptions } from './database/data-source-options.js';
import type { Environment } from './environment.js';
import { modulesInside, monolithDataSourceOptions } from './monolith.js';
import { OrdersModule } from './orders/orders.module.js';

@Module({})
class AppModule {}

export function appModule(environment: Environment, outbox: OutboxModuleOptions): DynamicModule {
  const isMonolith = environment.TRANSPORT === 'in-process';
  return {
    module: AppModule,
    imports: [
      databaseModule({
        url: environment.DATABASE_URL,
        dataSourceOptions: isMonolith ? monolithDataSourceOptions : dataSourceOptions,
        migrations: environment.MIGRATIONS,
        migrationLock: 1_764_300_000,
      }),
      OutboxModule.forRoot(outbox),
      ...(isMonolith ? modulesInside() : []),
      ...(environment.ROLE === 'dispatcher' ? [] : [OrdersModule]),
    ],
  };
}
