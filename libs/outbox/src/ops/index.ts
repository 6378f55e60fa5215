export { BacklogService } from './backlog.service.js';
export { BlockedKeyService } from './blocked-key.service.js';
export { DeadLetterService } from './dead-letter.service.js';
export {
  type KeptPartition,
  type LockOptions,
  type MaintainedPartitions,
  type MaintainOptions,
  type PartitionOptions,
  PartitionService,
} from './partition.service.js';
export {
  type RetentionOptions,
  type RetentionPolicy,
  type RetentionReport,
  RetentionService,
} from './retention.service.js';
export { RetentionLoop } from './retention-loop.js';
