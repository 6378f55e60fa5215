import { OutboxError } from './outbox-error.js';

/** The message is malformed, unsigned or of a type that this handler does not take. Trying again cannot help. */
export class InboxRefusedError extends OutboxError {
  constructor(
    message: string,
    /** HTTP status that says the same: 400 malformed, 401 unsigned, 413 too large, 422 not for this handler. */
    readonly status: 400 | 401 | 413 | 422,
    cause?: unknown,
  ) {
    super(message, { code: 'INBOX_REFUSED', cause });
  }
}

/** An event with this id was processed before, with different content. Reported, never swallowed. */
export class InboxConflictError extends OutboxError {
  constructor(
    readonly consumer: string,
    readonly eventId: string,
  ) {
    super(
      `consumer "${consumer}" has processed event ${eventId} with different content. An event id must never be used for two facts: look at the producer.`,
      { code: 'INBOX_CONFLICT' },
    );
  }
}

/** The event is being processed elsewhere, or the database could not decide now. Deliver it again later. */
export class InboxUnavailableError extends OutboxError {
  constructor(
    message: string,
    readonly retryAfterSeconds: number,
    cause?: unknown,
  ) {
    super(message, { code: 'INBOX_UNAVAILABLE', retryable: true, cause });
  }
}
