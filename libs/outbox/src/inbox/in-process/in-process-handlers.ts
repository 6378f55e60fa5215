import { ConfigurationError } from '../../errors/index.js';
import type { EventHandlers, ReceivedEvent } from '../../event/index.js';
import type { InboxHandlers } from '../inbox-handlers.js';
import type { HandlerCaller } from '../parking/handler-caller.js';
import { InProcessContext } from './in-process-context.js';

/** The `@OnOutboxEvent` handlers of the application. */
export class InProcessHandlers implements EventHandlers {
  constructor(
    private readonly handlers: InboxHandlers,
    private readonly caller: HandlerCaller,
  ) {}

  typesOf(consumer: string): ReadonlySet<string> | undefined {
    const own = this.handlers.inProcess.filter(({ handler }) => handler.consumer === consumer);
    return own.length === 0 ? undefined : new Set(own.flatMap(({ handler }) => [...(handler.types ?? [])]));
  }

  async handle(consumer: string, event: ReceivedEvent): Promise<'processed' | 'duplicate'> {
    const found = this.handlers.inProcess.find(
      ({ handler }) => handler.consumer === consumer && handler.types?.has(event.type),
    );
    const instance = found === undefined ? undefined : this.handlers.instanceOf(found.method.controller);
    if (found === undefined || instance === undefined) {
      throw new ConfigurationError(
        `no handler of consumer "${consumer}" takes "${event.type}", or there is one for each request. Put @OnOutboxEvent on a method of a class with one instance.`,
      );
    }
    const context = new InProcessContext(event);
    await this.caller.call(instance, found.method, event.payload, context);
    if (context.outcome === undefined) {
      throw new ConfigurationError(
        `${found.method.where} was called without its guard, and its event was not recorded.`,
      );
    }
    return context.outcome;
  }
}
