import type { ExecutionContext } from '@nestjs/common';
import type { ReceivedEvent } from '../event/index.js';
import type { GuardedHandler } from './guarded-handler.js';
import type { InboxResult } from './inbox-message.js';
import type { Refusal } from './refusal.js';

/**
 * How one protocol brings a message in and is told what became of it. Contract: `read` lets nothing unproven in;
 * `settle` is called after the commit and only then; for every other message `refuse` is called once.
 */
export interface InboundProtocol {
  /** Whether a message that cannot be read is refused by the guard, or later, in the place of its handler. */
  readonly refusesAtTheDoor: boolean;

  /**
   * Authenticates the message and reads it.
   *
   * @throws InboxRefusedError when it never can be taken, InboxUnavailableError when it cannot be taken now.
   */
  read(context: ExecutionContext): ReceivedEvent;

  /** Looks at what the handler returned, before the commit. @throws to undo what it did, when it says that it failed. */
  requireDone?(answer: unknown): void;

  /** Tells the sender that the event is processed, now or before; returns the answer. */
  settle(context: ExecutionContext, handler: GuardedHandler, result: InboxResult<unknown>): unknown;

  /** Sees to it that the message is not lost. Returns the answer, or throws what tells the sender that it is still his. */
  refuse(context: ExecutionContext, refusal: Refusal): unknown;
}
