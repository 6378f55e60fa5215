import type { ExecutionContext } from '@nestjs/common';
import type { ReceivedEvent } from '../event/index.js';
import type { InboxResult } from './inbox-message.js';

/**
 * How one protocol brings a message in and is told what became of it. Contract: `read` lets nothing unproven in;
 * `settle` is called after the commit and only then; whatever `refuse` returns is thrown, so the sender learns that the
 * message is still its own.
 */
export interface InboundProtocol {
  /**
   * Authenticates the message and reads it.
   *
   * @throws InboxRefusedError when it never can be taken, InboxUnavailableError when it cannot be taken now.
   */
  read(context: ExecutionContext): ReceivedEvent;

  /** Tells the sender that the event is processed, now or before; returns the answer. */
  settle(context: ExecutionContext, result: InboxResult<unknown>): unknown;

  /** What to throw for this error, so that the sender gets the reason; errors that are not the inbox's stay themselves. */
  refuse(context: ExecutionContext, error: unknown): unknown;
}
