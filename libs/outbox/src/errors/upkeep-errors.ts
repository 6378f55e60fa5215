import { OutboxError } from './outbox-error.js';

/** Upkeep of the tables did not get its turn or its locks in time. Nothing was changed. */
export class UpkeepPostponedError extends OutboxError {
  constructor(message: string, cause?: unknown) {
    super(message, { code: 'OUTBOX_UPKEEP_POSTPONED', retryable: true, cause });
  }
}
