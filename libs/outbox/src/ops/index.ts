export { BacklogService } from './backlog.service.js';
export { BlockedKeyService } from './blocked-key.service.js';
export { DeadLetterService, type RedriveOptions } from './dead-letter.service.js';
export { DestinationService } from './destination.service.js';
export {
  CHECKS,
  checkAtStart,
  durationInWords,
  type Examined,
  type ExaminedInbox,
  type ExaminedOutbox,
  examine,
  examinedAt,
  type Finding,
  START_UP_CHECKS,
} from './doctor/index.js';
export { OperationLogService } from './operation-log.service.js';
export { type ReplayOptions, ReplayService } from './replay.service.js';
export { type RetentionOptions, RetentionService } from './retention.service.js';
