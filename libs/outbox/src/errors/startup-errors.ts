import { OutboxError } from './outbox-error.js';

/** An option, a route or a decorator contradicts another one. Raised while the application starts. */
export class ConfigurationError extends OutboxError {
  constructor(message: string, cause?: unknown) {
    super(message, { code: 'OUTBOX_CONFIGURATION', cause });
  }
}

/** The tables are missing, or of another version than this library needs. */
export class SchemaVersionError extends OutboxError {
  constructor(message: string, cause?: unknown) {
    super(message, { code: 'OUTBOX_SCHEMA_VERSION', cause });
  }
}

/** PostgreSQL could not be asked at start. */
export class DatabaseUnreachableError extends OutboxError {
  constructor(message: string, cause?: unknown) {
    super(message, { code: 'OUTBOX_DATABASE_UNREACHABLE', retryable: true, cause });
  }
}
