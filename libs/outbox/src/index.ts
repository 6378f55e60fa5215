export type {
  Completion,
  DestinationOptions,
  DispatcherOptions,
  MigrateMode,
  OutboxModuleExtras,
  OutboxModuleOptions,
  OutboxTableOptions,
  RouteOptions,
} from './config/index.js';
export { type DispatchSummary, OutboxDispatcher } from './dispatch/index.js';
export {
  type EmitOptions,
  EmitsEvent,
  type EmitsEventOptions,
  type EventFields,
  type MappedEvent,
  OutboxService,
} from './emit/index.js';
export {
  ConfigurationError,
  DatabaseUnreachableError,
  EventNotStoredError,
  ForeignDataSourceError,
  InboxConflictError,
  InboxRefusedError,
  InboxUnavailableError,
  InvalidEventError,
  LimitExceededError,
  NoActiveTransactionError,
  OutboxError,
  SchemaVersionError,
  TransactionEndedError,
  TransactionNotCommittedError,
  UnroutedEventError,
  UnserializablePayloadError,
} from './errors/index.js';
export {
  AggregateId,
  type EventClass,
  type EventEnvelope,
  type EventHeaders,
  type OnDead,
  OutboxEvent,
  type OutboxEventOptions,
  type ReceivedEvent,
} from './event/index.js';
export {
  CloudEventDeserializer,
  Inbox,
  InboxConsumer,
  type InboxConsumerOptions,
  InboxEnvelope,
  InboxEvent,
  InboxGuard,
  type InboxMessage,
  type InboxModuleExtras,
  type InboxModuleOptions,
  type InboxResult,
  InboxRetentionService,
  InboxService,
  InboxTransaction,
  InProcessContext,
  OnOutboxEvent,
  ParkedMessageContext,
  ParkedMessageService,
  type RedriveResult,
  receivedEventOf,
} from './inbox/index.js';
export { InboxModule, type InboxOptionsFactory, InjectInbox } from './inbox.module.js';
export {
  BacklogService,
  BlockedKeyService,
  DeadLetterService,
  type RetentionOptions,
  RetentionService,
} from './ops/index.js';
export { getOutboxToken, InjectOutbox, OutboxModule, type OutboxOptionsFactory } from './outbox.module.js';
export {
  type BlockedKey,
  type BlockedKeyFilter,
  type DeadLetter,
  type DeadLetterFilter,
  type DestinationBacklog,
  type InboxMigrationOptions,
  type InboxSchemaOptions,
  inboxMigrations,
  inboxSchemaSql,
  type MigrationClass,
  type OutboxSchemaOptions,
  outboxMigrations,
  outboxSchemaSql,
  outboxWakeUpTriggerDownSql,
  outboxWakeUpTriggerSql,
  type PrunedRows,
} from './store/index.js';
export { type CurrentManager, type IsolationLevel, outsideTransaction } from './transaction/index.js';
export type {
  OutgoingEvent,
  PublishOutcome,
  Transport,
  TransportCapabilities,
} from './transports/index.js';
