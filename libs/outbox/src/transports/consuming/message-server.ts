import { type CustomTransportStrategy, Server } from '@nestjs/microservices';
import { lastValueFrom } from 'rxjs';
import { describeError } from '../../errors/index.js';
import { logLine } from '../../runtime/index.js';
import { type ConsumedMessage, MessageContext, type Settlement } from './message-context.js';

/** Where nobody says better: a message of which the handler failed comes again after so long. */
const REDELIVERY_MS = 5000;

/** How long `close()` waits for handlers that run. */
const CLOSE_TIMEOUT_MS = 30_000;

/** What stands in a message before anybody has decided about it. */
export interface ReadMessage {
  /** Whether it says of itself that it is an event; what does not is nobody's by mistake only. */
  readonly isEvent: boolean;
  /** Patterns by which a handler is looked for; the first that one has. */
  readonly patterns: readonly string[];
  /** What the handler gets by `@Payload()`. */
  readonly data: unknown;
}

/**
 * A server for Nest's microservices on a broker with acknowledgements. A message is accepted when its handlers have ended
 * well, and comes again when one of them failed; with InboxGuard, its rules decide. Messages that no handler takes are
 * accepted: others may take them from a place of their own.
 */
export abstract class MessageServer extends Server implements CustomTransportStrategy {
  /** Nest would report an error of a handler and swallow it. */
  override readonly propagatesEventHandlerErrors: boolean = true;
  private readonly running = new Set<Promise<void>>();

  /** How many messages are being processed. */
  protected get runningCount(): number {
    return this.running.size;
  }

  /** Resolves when the message is settled. Never rejects. */
  protected take(message: ConsumedMessage, read: ReadMessage, settlement: Settlement): Promise<void> {
    const taking = this.process(message, read, settlement).finally(() => this.running.delete(taking));
    this.running.add(taking);
    return taking;
  }

  /** Resolves when one of those that are being processed is settled. */
  protected async untilOneEnds(): Promise<void> {
    await Promise.race(this.running);
  }

  /** Resolves when nothing is being processed any more, or the time is over. */
  protected async untilIdle(): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const timeout = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, CLOSE_TIMEOUT_MS);
    });
    await Promise.race([Promise.all([...this.running]), timeout]);
    clearTimeout(timer);
  }

  on(): never {
    throw new Error(`${this.constructor.name} has no events to listen to.`);
  }

  private async process(message: ConsumedMessage, read: ReadMessage, settlement: Settlement): Promise<void> {
    const context = new MessageContext(message, settlement);
    try {
      await this.callHandlers(read, context);
      await context.accept();
    } catch (error) {
      this.logger.error(logLine('message not processed', { source: message.source, error: describeError(error) }));
      await context.deliverAgain(REDELIVERY_MS).catch(() => undefined); // the connection is lost, so it comes again anyway
    }
  }

  /** Nest calls what else is subscribed to the pattern along with the first. */
  private async callHandlers({ patterns, data, isEvent }: ReadMessage, context: MessageContext): Promise<void> {
    const pattern = patterns.find((one) => this.messageHandlers.has(one));
    const handler = pattern === undefined ? undefined : this.messageHandlers.get(pattern);
    if (handler !== undefined) {
      await lastValueFrom(this.transformToObservable(await handler(data, context)), { defaultValue: undefined });
    } else if (!isEvent) {
      this.logger.error(
        logLine('message dropped: it is no event, and no handler has the pattern "unreadable"', {
          source: context.getMessage().source,
        }),
      );
    }
  }
}
