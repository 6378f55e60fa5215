import type { DynamicModule } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { openDatabase } from './open-database.js';
import type { SampleDatabase } from './sample-database.js';

/** TypeORM's module, connected to the application's database. */
export function databaseModule(database: SampleDatabase): DynamicModule {
  return TypeOrmModule.forRootAsync({
    // A process that cannot start ends, and whoever runs it starts it again; so nothing is tried again here.
    useFactory: () => ({ ...database.dataSourceOptions(database.url), toRetry: () => false }),
    dataSourceFactory: () => openDatabase(database),
  });
}
