import { type BeforeApplicationShutdown, type ExecutionContext, Logger } from '@nestjs/common';
import type { ReceivedEvent } from '../../event/index.js';
import { logLine, waitFor } from '../../runtime/index.js';
import type { GuardedHandler } from '../guarded-handler.js';
import type { InboundProtocol } from '../inbound-protocol.js';
import type { InboxResult } from '../inbox-message.js';
import type { FailedMessages } from '../parking/failed-messages.js';
import type { Refusal } from '../refusal.js';
import { type AmqpMessage, toRawMessage } from './amqp-message.js';
import { readMessage } from './read-message.js';

/** How long a message that has to come again is held at most while the application stops: its end waits for it. */
const HOLD_WHILE_STOPPING_MS = 1000;

/** The `Nack` of golevelup, with which a handler says that it has not processed the message. */
interface Nack {
  readonly requeue: boolean;
}

/** Undoes what the handler did. */
class HandedBack extends Error {
  constructor(readonly nack: Nack) {
    super('the handler returned a Nack');
  }
}

/**
 * Messages of `@RabbitSubscribe` handlers of `@golevelup/nestjs-rabbitmq`, which settles them by itself: it acknowledges
 * when the handler's promise resolves, that is after the commit, and gives a message back as soon as the promise rejects.
 * So a message that has to come again later is held here until then. The guard lets every message in, because a refusal
 * would be delivered without end.
 */
export class GolevelupProtocol implements InboundProtocol, BeforeApplicationShutdown {
  readonly refusesAtTheDoor = false;
  private readonly logger = new Logger('Inbox');
  private readonly stopping = new AbortController();

  constructor(private readonly failures: FailedMessages) {}

  beforeApplicationShutdown(): void {
    this.stopping.abort();
  }

  read(context: ExecutionContext): ReceivedEvent {
    return readMessage(toRawMessage(messageOf(context)));
  }

  requireDone(answer: unknown): void {
    if (isNack(answer)) throw new HandedBack(answer);
  }

  settle(_: ExecutionContext, __: GuardedHandler, { result }: InboxResult<unknown>): unknown {
    return result;
  }

  /** @throws the error itself when the message has to come again. */
  async refuse(context: ExecutionContext, refusal: Refusal): Promise<unknown> {
    const { error, handler, event } = refusal;
    if (error instanceof HandedBack && !error.nack.requeue) {
      this.logger.warn(logLine('message rejected by its handler', { consumer: handler.consumer, message: event?.id }));
      return error.nack;
    }
    const verdict = await this.failures.decide(refusal, toRawMessage(messageOf(context)), true);
    if (verdict.kind === 'parked') return undefined;
    await this.hold(verdict.delayMs);
    throw error;
  }

  /** What is given back while the application stops may be delivered to it once more, and must not spin then. */
  private hold(delayMs: number): Promise<void> {
    const { signal } = this.stopping;
    if (!signal.aborted) return waitFor(delayMs, signal);
    return waitFor(Math.min(delayMs, HOLD_WHILE_STOPPING_MS), new AbortController().signal);
  }
}

/** Handlers are called with the body, the message and its headers. */
function messageOf(context: ExecutionContext): AmqpMessage {
  return context.getArgByIndex<AmqpMessage>(1);
}

function isNack(answer: unknown): answer is Nack {
  return typeof answer === 'object' && answer?.constructor?.name === 'Nack' && 'requeue' in answer;
}
