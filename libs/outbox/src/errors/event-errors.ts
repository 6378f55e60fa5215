import { OutboxError } from './outbox-error.js';

/** The event's class does not describe it, or its fields do not pass validation; nothing was sent to PostgreSQL. */
export class InvalidEventError extends OutboxError {
  constructor(message: string, cause?: unknown) {
    super(message, { code: 'OUTBOX_INVALID_EVENT', cause });
  }
}

/** JSON would lose or change a value, or PostgreSQL could not keep it; nothing was sent to PostgreSQL. */
export class UnserializablePayloadError extends OutboxError {
  constructor(
    /** Where the value stands, for example `payload.items[3].total`. */
    readonly path: string,
    problem: string,
    cause?: unknown,
  ) {
    super(`${path}: ${problem}`, { code: 'OUTBOX_UNSERIALIZABLE_PAYLOAD', cause });
  }
}

/** A field is longer than the tables or the configuration allow; nothing was sent to PostgreSQL. */
export class LimitExceededError extends OutboxError {
  constructor(
    readonly field: string,
    readonly actual: number,
    readonly limit: number,
    unit: 'characters' | 'bytes',
  ) {
    super(
      `${field} has ${actual} ${unit}, the limit is ${limit}. Shorten it or raise the limit where one can be configured.`,
      {
        code: 'OUTBOX_LIMIT_EXCEEDED',
      },
    );
  }
}

/** No route names this event type, so nobody would ever receive it; nothing was sent to PostgreSQL. */
export class UnroutedEventError extends OutboxError {
  constructor(message: string) {
    super(message, { code: 'OUTBOX_UNROUTED_EVENT' });
  }
}

/** PostgreSQL refused the events. The transaction can only be rolled back now; `retryable` after a conflict. */
export class EventNotStoredError extends OutboxError {
  constructor(message: string, details: { readonly retryable: boolean; readonly cause: unknown }) {
    super(message, { code: 'OUTBOX_EVENT_NOT_STORED', ...details });
  }
}
