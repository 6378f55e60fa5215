import { OutboxError } from './outbox-error.js';

/** HTTP status that says why a message is refused for good. */
export type RefusalStatus = 400 | 401 | 413 | 415 | 422;

/** The message is malformed, unsigned or of a type that this handler does not take. Trying again cannot help. */
export class InboxRefusedError extends OutboxError {
  /** One line for each field that is wrong; empty where the message says it all. */
  readonly problems: readonly string[];

  constructor(
    message: string,
    /** 400 malformed, 401 unsigned, 413 too large, 415 no JSON, 422 not for this handler. */
    readonly status: RefusalStatus,
    details: { readonly cause?: unknown; readonly problems?: readonly string[] } = {},
  ) {
    super(message, { code: 'INBOX_REFUSED', cause: details.cause });
    this.problems = details.problems ?? [];
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

/** The event is being processed elsewhere, or it could not be decided now. Deliver it again later. */
export class InboxUnavailableError extends OutboxError {
  constructor(
    message: string,
    readonly retryAfterSeconds: number,
    cause?: unknown,
  ) {
    super(message, { code: 'INBOX_UNAVAILABLE', retryable: true, cause });
  }
}
