import { wholeNumber } from '../../config/index.js';
import { ConfigurationError } from '../../errors/index.js';
import type { FailedMessageStore, ParkedMessage, ParkedMessageFilter } from '../../store/index.js';
import { readMessage } from '../broker/read-message.js';
import type { InboxHandlers } from '../inbox-handlers.js';
import type { HandlerCaller } from './handler-caller.js';
import { ParkedMessageContext } from './parked-message-context.js';

export interface RedriveResult {
  /** Those that are processed now, or were before; they are not parked any more. */
  readonly processed: readonly string[];
  /** Those that failed again; they stay, with the new reason. */
  readonly failed: readonly string[];
}

/** Messages of brokers that a consumer could not process, with their reasons: to look at, to try again, to drop. */
export class ParkedMessageService {
  constructor(
    private readonly store: FailedMessageStore,
    private readonly handlers: InboxHandlers,
    private readonly caller: HandlerCaller,
  ) {}

  /** Oldest first. @param options.limit 1 to 10,000; default 100. */
  async list(filter: ParkedMessageFilter & { readonly limit?: number } = {}): Promise<readonly ParkedMessage[]> {
    return this.store.list(filter, wholeNumber('limit', filter.limit, 100, 1, 10_000));
  }

  /**
   * Processes parked messages now, in this process, as if they had just come: with the handler's guards and pipes, once
   * for each consumer, in the order in which they were parked.
   *
   * @throws ConfigurationError when this application has no handler for one of them; those before it are done.
   */
  async redrive(filter: ParkedMessageFilter & { readonly limit?: number } = {}): Promise<RedriveResult> {
    const processed: string[] = [];
    const failed: string[] = [];
    for (const message of await this.list(filter)) {
      await this.process(message);
      const [still] = await this.store.list({ ids: [message.id] }, 1);
      // Failing again parks it again.
      if (still !== undefined && still.parkedAt.getTime() === message.parkedAt.getTime()) {
        await this.store.remove({ ids: [message.id] });
        processed.push(message.id);
      } else failed.push(message.id);
    }
    return { processed, failed };
  }

  /** Removes parked messages for good. @returns how many. */
  discard(filter: ParkedMessageFilter): Promise<number> {
    return this.store.remove(filter);
  }

  private async process(message: ParkedMessage): Promise<void> {
    const { consumer, eventType, source } = message;
    const handler = this.handlers.takerOf(consumer, eventType);
    const instance = handler === undefined ? undefined : this.handlers.instanceOf(handler.controller);
    if (handler === undefined || instance === undefined) {
      throw new ConfigurationError(
        `parked message ${message.id} (${source}) is for consumer "${consumer}", of which this application has no handler for the type ${JSON.stringify(eventType ?? '')}. Redrive it where the handler is, or discard it.`,
      );
    }
    await this.caller.call(instance, handler, payloadOf(message), new ParkedMessageContext(message));
  }
}

/** What a handler gets as `@Payload()`; of a message that cannot be read, the text. The inbox will say why it cannot. */
function payloadOf(message: ParkedMessage): unknown {
  try {
    return readMessage(message).payload;
  } catch {
    return message.body.toString('utf8');
  }
}
