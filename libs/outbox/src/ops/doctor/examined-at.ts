import type { DataSource } from 'typeorm';
import type { ResolvedOptions } from '../../config/index.js';
import {
  applicationPoolSize,
  DatabaseInspection,
  DataSourceClient,
  type OutboxNames,
  outboxComponent,
  PostgresDestinationStore,
  readVersion,
} from '../../store/index.js';
import type { Examined, ExaminedInbox } from './examined.js';

export interface OutboxPlace {
  readonly names: OutboxNames;
  readonly options?: ResolvedOptions;
}

/** The outbox, and the inbox where there is one, on the database of a DataSource. */
export function examinedAt(dataSource: DataSource, outbox: OutboxPlace | undefined, inbox?: ExaminedInbox): Examined {
  return {
    database: new DatabaseInspection(dataSource),
    applicationPoolSize: applicationPoolSize(dataSource.options),
    versionOf: (component) => readVersion(dataSource, component),
    ...(outbox && {
      outbox: {
        ...outbox,
        retainForMs: outbox.options?.retention?.deliveredForMs,
        component: outboxComponent(outbox.names),
        destinations: new PostgresDestinationStore(new DataSourceClient(dataSource), outbox.names),
      },
    }),
    ...(inbox && { inbox }),
  };
}
