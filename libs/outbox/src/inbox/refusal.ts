import type { ReceivedEvent } from '../event/index.js';
import type { GuardedHandler } from './guarded-handler.js';

/** A message that was not processed, and why. */
export interface Refusal {
  readonly error: unknown;
  readonly handler: GuardedHandler;
  /** Undefined when the message could not even be read. */
  readonly event: ReceivedEvent | undefined;
}
