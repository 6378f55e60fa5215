import { type DynamicModule, Module } from '@nestjs/common';
import { OutboxModule, type OutboxModuleOptions } from 'nestjs-transactional-outbox';
import { databaseModule } from 'sample-support';
import { dashboard } from './dashboard/dashboard.js';
import { dataSourceOptions } from './database/data-source-options.js';
import type { Environment } from './environment.js';
import { HealthModule } from './health/health.module.js';
import { OrdersModule } from './orders/orders.module.js';

@Module({})
class AppModule {}

/** @param surroundings modules that a process adds. */
export async function appModule(
  environment: Environment,
  outbox: OutboxModuleOptions,
  ...surroundings: readonly DynamicModule[]
): Promise<DynamicModule> {
  // The code of shipping is loaded only where it belongs to this application.
  const monolith = environment.TRANSPORT === 'in-process' ? await import('./monolith.js') : undefined;
  return {
    module: AppModule,
    imports: [
      databaseModule({
        url: environment.DATABASE_URL,
        dataSourceOptions: monolith?.monolithDataSourceOptions ?? dataSourceOptions,
        migrations: environment.MIGRATIONS,
        migrationLock: 1_764_300_000,
      }),
      OutboxModule.forRoot(outbox),
      ...(monolith?.modulesInside() ?? []),
      ...(environment.ROLE === 'dispatcher' ? [] : [OrdersModule, HealthModule, ...dashboard(environment)]),
      ...surroundings,
    ],
  };
}
