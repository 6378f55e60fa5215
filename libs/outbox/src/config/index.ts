export type {
  Completion,
  DestinationOptions,
  DispatcherOptions,
  MigrateMode,
  OutboxModuleExtras,
  OutboxModuleOptions,
  OutboxRetentionOptions,
  OutboxTableOptions,
  RouteOptions,
  StartUpChecks,
} from './module-options.js';
export { wholeNumber } from './number-option.js';
export { resolveOptions } from './resolve-options.js';
export { identifier, resolveSchema, resolveTables } from './resolve-tables.js';
export type {
  ResolvedDestination,
  ResolvedDispatcher,
  ResolvedOptions,
  ResolvedRetention,
  RouteTable,
} from './resolved-options.js';
export { nameOfToken, outboxToken } from './tokens.js';
