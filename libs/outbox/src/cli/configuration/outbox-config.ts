import type { INestApplicationContext } from '@nestjs/common';
import type { DataSource, DataSourceOptions } from 'typeorm';
import type { OutboxModuleOptions } from '../../config/index.js';
import type { InboxModuleOptions } from '../../inbox/index.js';

/** What the command line needs to know of an application: the default export of `outbox.config.js`. */
export interface OutboxConfig {
  /** The one of the outbox and the inbox. The command line connects by itself: nothing is synchronised or migrated by it. */
  readonly dataSource: DataSource | DataSourceOptions;
  /** What `OutboxModule.forRoot` gets. */
  readonly outbox?: OutboxModuleOptions;
  /** What `InboxModule.forRoot` gets. */
  readonly inbox?: InboxModuleOptions;
  /** Starts the application, without listening, for what calls its handlers: `outbox inbox redrive`. It is closed again. */
  readonly app?: () => Promise<INestApplicationContext>;
}

export type OutboxConfigSource = OutboxConfig | Promise<OutboxConfig> | (() => OutboxConfig | Promise<OutboxConfig>);

/** Gives the types of a configuration file: `export default defineOutboxConfig({ … })`. */
export function defineOutboxConfig<Source extends OutboxConfigSource>(source: Source): Source {
  return source;
}
