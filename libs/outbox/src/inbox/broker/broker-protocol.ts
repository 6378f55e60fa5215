import { type ExecutionContext, Logger } from '@nestjs/common';
import { ConfigurationError, describeError } from '../../errors/index.js';
import type { ReceivedEvent } from '../../event/index.js';
import { logLine } from '../../runtime/index.js';
import type { GuardedHandler } from '../guarded-handler.js';
import type { InboundProtocol } from '../inbound-protocol.js';
import type { InboxResult } from '../inbox-message.js';
import type { FailedMessages } from '../parking/failed-messages.js';
import type { Refusal } from '../refusal.js';
import type { MessageSource } from './message-source.js';
import { readMessage } from './read-message.js';

/** A message that several handlers take is settled when the last of them has decided. */
interface Settling {
  undecided: number;
  againMs: number | undefined;
}

/**
 * Events from the brokers of Nest's microservices. A message is accepted after the commit of the last handler that takes
 * it; one that failed comes again, or is parked and accepted. The guard lets every message in, because a broker takes a
 * refusal for a failure and delivers a broken message without end.
 */
export class BrokerProtocol implements InboundProtocol {
  readonly refusesAtTheDoor = false;
  private readonly logger = new Logger('Inbox');
  private readonly settling = new WeakMap<object, Settling>();

  constructor(
    private readonly sources: readonly MessageSource[],
    private readonly failures: FailedMessages,
  ) {}

  read(context: ExecutionContext): ReceivedEvent {
    const rpc = context.switchToRpc();
    const message = rpc.getContext<object>();
    const source = this.sourceOf(message);
    return source.event?.(message) ?? readMessage(source.raw(message, rpc.getData()));
  }

  async settle(context: ExecutionContext, handler: GuardedHandler, result: InboxResult<unknown>): Promise<unknown> {
    const message = context.switchToRpc().getContext<object>();
    this.sourceOf(message).settled?.(message, result.outcome);
    await this.decide(context, handler, undefined);
    return result.result;
  }

  /** @throws the error itself where somebody waits for an answer: he tries again, if he wants to. */
  async refuse(context: ExecutionContext, refusal: Refusal): Promise<unknown> {
    const { error, handler } = refusal;
    if (handler.answersRequests) {
      await this.decide(context, handler, undefined);
      throw error;
    }
    const rpc = context.switchToRpc();
    const message = rpc.getContext<object>();
    const source = this.sourceOf(message);
    const verdict = await this.failures.decide(refusal, source.raw(message, rpc.getData()), source.redelivers);
    await this.decide(context, handler, verdict.kind === 'again' ? verdict.delayMs : undefined);
    return undefined;
  }

  /** @param againMs undefined when the handler is through with the message. */
  private async decide(context: ExecutionContext, handler: GuardedHandler, againMs: number | undefined): Promise<void> {
    const message = context.switchToRpc().getContext<object>();
    const settling = this.settling.get(message) ?? { undecided: handler.takersOfItsPattern, againMs: undefined };
    this.settling.set(message, settling);
    settling.undecided -= 1;
    if (againMs !== undefined) settling.againMs = Math.max(againMs, settling.againMs ?? 0);
    if (settling.undecided > 0) return;
    const source = this.sourceOf(message);
    try {
      if (settling.againMs === undefined) await source.accept?.(message);
      else await source.deliverAgain?.(message, settling.againMs);
    } catch (error) {
      // Everything is committed; the message comes again, and will be known then.
      this.logger.warn(
        logLine('acknowledgement failed, the message will come again', {
          source: source.name,
          error: describeError(error),
        }),
      );
    }
  }

  private sourceOf(context: object): MessageSource {
    const source = this.sources.find((one) => one.isSourceOf(context));
    if (source !== undefined) return source;
    throw new ConfigurationError(
      `InboxGuard knows no broker with a ${context.constructor.name}. It takes messages of ${this.sources.map(({ name }) => name).join(', ')}.`,
    );
  }
}
