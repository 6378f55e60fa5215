export { BacklogService } from './backlog.service.js';
export { BlockedKeyService } from './blocked-key.service.js';
export { DeadLetterService, type RedriveOptions } from './dead-letter.service.js';
export { DestinationService } from './destination.service.js';
export {
  checkAtStart,
  diagnose,
  durationInWords,
  type Examined,
  type ExaminedInbox,
  type ExaminedOutbox,
  examinedAt,
  type Finding,
  schemaVerdict,
} from './doctor/index.js';
export {
  type DestinationHealth,
  type HealthStatus,
  type HealthThresholds,
  type OutboxHealth,
  OutboxHealthService,
} from './health.service.js';
export { OperationLogService } from './operation-log.service.js';
export { OutboxGauges } from './outbox-gauges.js';
export {
  type KeptPartition,
  type LockOptions,
  type MaintainedPartitions,
  type MaintainOptions,
  type PartitionOptions,
  PartitionService,
} from './partition.service.js';
export { type ReplayOptions, ReplayService } from './replay.service.js';
export {
  type RetentionOptions,
  type RetentionPolicy,
  type RetentionReport,
  RetentionService,
} from './retention.service.js';
export { RetentionLoop } from './retention-loop.js';
export { partitionServiceOn, retentionServiceOn } from './upkeep-services.js';
