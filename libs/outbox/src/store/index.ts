export { ApplicationPool, applicationPoolSize } from './application-pool.js';
export type { BacklogStore, DestinationBacklog } from './backlog-store.js';
export type { BlockedKey, BlockedKeyFilter, BlockedKeyStore } from './blocked-key-store.js';
export type { BreakerStore, TripRequest } from './breaker-store.js';
export { type InboxDatabase, inboxDatabaseOf } from './choose-inbox-database.js';
export { DataSourceClient } from './data-source-client.js';
export { DatabaseInspection, type IndexState } from './database-inspection.js';
export type {
  AttemptRecord,
  DeadLetter,
  DeadLetterDetails,
  DeadLetterFilter,
  DeadLetterReader,
  DeadLetterStore,
  RedriveRequest,
} from './dead-letter-store.js';
export type {
  Claim,
  ClaimAnswer,
  ClaimedDelivery,
  ClaimRequest,
  DeadLettered,
  DeliveryStore,
  Finalization,
  ReapedDelivery,
  Rescheduled,
} from './delivery-store.js';
export type { DestinationState, DestinationStore, ProgressStore } from './destination-store.js';
export { detectPooler, type PostgresConnection } from './detect-pooler.js';
export { DispatcherPool } from './dispatcher-pool.js';
export type { EventStore, StorableEvent } from './event-store.js';
export type {
  FailedMessageStore,
  MessageFailure,
  ParkedMessage,
  ParkedMessageFilter,
  RawMessage,
} from './failed-message-store.js';
export type { ConsumerBacklog, InboxBacklogStore } from './inbox-backlog-store.js';
export type { InboxStore, ProcessedEntry, ProcessedEvent } from './inbox-store.js';
export type { ChangedDeliveries, ManualChange } from './manual-change.js';
export type { SchemaVersion } from './migrations/apply-step.js';
export { inboxComponent } from './migrations/inbox-component.js';
export {
  type InboxMigrationOptions,
  type InboxSchemaOptions,
  inboxMigrations,
  inboxSchemaSql,
  resolveInboxNames,
} from './migrations/inbox-schema.js';
export { outboxComponent } from './migrations/outbox-component.js';
export { latestVersion, type SchemaComponent } from './migrations/schema-component.js';
export { ensureSchema, migrate, readVersion } from './migrations/schema-guard.js';
export { componentSql, type OutboxSchemaOptions, outboxSchemaSql } from './migrations/schema-sql.js';
export { type MigrationClass, outboxMigrations } from './migrations/typeorm-migrations.js';
export { outboxWakeUpTriggerDownSql, outboxWakeUpTriggerSql } from './migrations/wake-up-trigger.js';
export { type Operation, type OperationStore, PostgresOperationStore } from './operation-store.js';
export { DAY_MS, startOfDay } from './partitions/event-day.js';
export { coversDay, type LogLayout, type LogPartition } from './partitions/log-layout.js';
export type {
  DroppedPartition,
  LogConversion,
  MadeDay,
  PartitionContents,
  PartitionStore,
  Promised,
  Swap,
} from './partitions/partition-store.js';
export { PostgresLogConversion } from './partitions/postgres-log-conversion.js';
export { PostgresPartitionStore } from './partitions/postgres-partition-store.js';
export { PostgresBacklogStore } from './postgres-backlog-store.js';
export { PostgresBlockedKeyStore } from './postgres-blocked-key-store.js';
export { PostgresBreakerStore } from './postgres-breaker-store.js';
export { PostgresDeadLetterStore } from './postgres-dead-letter-store.js';
export { PostgresDeliveryStore } from './postgres-delivery-store.js';
export { PostgresDestinationStore } from './postgres-destination-store.js';
export { PostgresEventStore } from './postgres-event-store.js';
export { PostgresInboxStore } from './postgres-inbox-store.js';
export { PostgresReplayStore } from './postgres-replay-store.js';
export { PostgresRetentionStore } from './postgres-retention-store.js';
export type { ProcessedEventRetention } from './processed-event-retention.js';
export type { ReplayedDelivery, ReplayFilter, ReplayPreview, ReplayStore } from './replay-store.js';
export type { PrunedBatch, PrunedRows, PruneRequest, RetentionStore } from './retention-store.js';
export type { SqlClient, SqlRow } from './sql-client.js';
export { isLockTimeout } from './sql-state.js';
export { type InboxNames, type OutboxNames, outboxNames } from './table-names.js';
export { ownTables } from './table-ownership.js';
export { type Turn, Turns } from './turns.js';
export type { VitalSigns, VitalSignsStore } from './vital-signs-store.js';
export { notifyDestinations, wakeUpChannel } from './wake-up-channel.js';
export { WakeUpListener, type WakeUpListenerEvents, type WakeUpListenerTimes } from './wake-up-listener.js';
