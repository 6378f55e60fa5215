export { BacklogService } from './backlog.service.js';
export { BlockedKeyService } from './blocked-key.service.js';
export { DeadLetterService } from './dead-letter.service.js';
export { OutboxGauges } from './outbox-gauges.js';
export { type RetentionOptions, RetentionService } from './retention.service.js';
