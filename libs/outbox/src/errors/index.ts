export { describeError, storableText } from './describe-error.js';
export {
  EventNotStoredError,
  InvalidEventError,
  LimitExceededError,
  UnroutedEventError,
  UnserializablePayloadError,
} from './event-errors.js';
export { InboxConflictError, InboxRefusedError, InboxUnavailableError } from './inbox-errors.js';
export { OutboxError, type OutboxErrorDetails } from './outbox-error.js';
export { ConfigurationError, DatabaseUnreachableError, SchemaVersionError } from './startup-errors.js';
export {
  ForeignDataSourceError,
  NoActiveTransactionError,
  TransactionEndedError,
  TransactionNotCommittedError,
} from './transaction-errors.js';
export { UpkeepPostponedError } from './upkeep-errors.js';
