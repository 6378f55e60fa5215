import { type DynamicModule, Module } from '@nestjs/common';
import { InboxModule } from 'nestjs-transactional-outbox';
import { databaseModule } from 'sample-support';
import { consumerModules } from './consumers.js';
import { dataSourceOptions } from './database/data-source-options.js';
import type { Environment } from './environment.js';
import type { Intake } from './intake.js';
import { ReceiptsModule } from './receipts/receipts.module.js';
import { placeOf } from './servers/load-servers.js';

@Module({})
class AppModule {}

/** @param surroundings modules that a process adds. */
export function appModule(environment: Environment, ...surroundings: readonly DynamicModule[]): DynamicModule {
  const intake: Intake =
    environment.TRANSPORT === 'http'
      ? { kind: 'http' }
      : { kind: 'broker', placeOf: (consumer) => placeOf(environment, consumer) };
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
      ...consumerModules(intake),
      ReceiptsModule,
      ...surroundings,
    ],
  };
}
