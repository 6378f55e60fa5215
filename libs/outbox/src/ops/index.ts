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
export { OperationLogService } from './operation-log.service.js';
export { type ReplayOptions, ReplayService } from './replay.service.js';
export { type RetentionOptions, RetentionService } from './retention.service.js';
