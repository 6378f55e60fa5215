import type { DataSourceOptions } from 'typeorm';
import type { MigrationMode } from '../environment/variables.js';

/** The database of one application. */
export interface SampleDatabase {
  readonly url: string;
  readonly dataSourceOptions: (url: string) => DataSourceOptions;
  readonly migrations: MigrationMode;
  /** Any number, the same in every process of the application. */
  readonly migrationLock: number;
}
