/** What every error of this library carries beside the standard fields. */
export interface OutboxErrorDetails {
  /** Stable, documented in docs/errors.md; tell errors apart by it or by class, never by the text. */
  readonly code: string;
  /** True when the same call may succeed later without a change of code, configuration or data. */
  readonly retryable?: boolean;
  readonly cause?: unknown;
}

/** Root of all errors that this library throws. The message says what happened, then what to do. */
export class OutboxError extends Error {
  readonly code: string;
  readonly retryable: boolean;

  constructor(message: string, details: OutboxErrorDetails) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.name = new.target.name;
    this.code = details.code;
    this.retryable = details.retryable ?? false;
  }
}
