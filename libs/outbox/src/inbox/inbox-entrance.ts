import type { ExecutionContext } from '@nestjs/common';
import { ConfigurationError, InboxRefusedError } from '../errors/index.js';
import type { ReceivedEvent } from '../event/index.js';
import type { InboxTelemetry } from '../telemetry/index.js';
import { Delivery, letIn, PassingDelivery, RefusedDelivery } from './delivery.js';
import type { GuardedHandler, GuardedHandlers } from './guarded-handler.js';
import type { InboundProtocol } from './inbound-protocol.js';
import type { InboxService } from './inbox.service.js';
import type { Refusal } from './refusal.js';
import { reportRefusal } from './report-refusal.js';

/** Where messages come into one inbox. The guard of every handler finds it here. */
export class InboxEntrance {
  constructor(
    private readonly handlers: GuardedHandlers,
    private readonly service: InboxService,
    /** By type of the execution context, for example `http`. */
    private readonly protocols: ReadonlyMap<string, InboundProtocol>,
    private readonly telemetry: InboxTelemetry,
  ) {}

  /** The handler that Nest is about to call; undefined when it belongs to another inbox, or to none. */
  handlerOf(context: ExecutionContext): GuardedHandler | undefined {
    return this.handlers.find(context.getClass(), context.getHandler());
  }

  /** Reads the message and leaves it for the interceptor. @throws what the protocol makes of a refusal. */
  admit(context: ExecutionContext, handler: GuardedHandler): void {
    const protocol = this.protocols.get(context.getType());
    if (protocol === undefined) {
      throw new ConfigurationError(
        `${handler.where} is guarded by InboxGuard in a context of type "${context.getType()}". It takes messages by ${[...this.protocols.keys()].join(', ')} only.`,
      );
    }
    let event: ReceivedEvent | undefined;
    try {
      event = protocol.read(context);
      if (!takes(handler, event)) {
        if (protocol.refusesAtTheDoor) throw notTaken(handler, event);
        letIn(context, new PassingDelivery(handler, protocol));
        return;
      }
    } catch (error) {
      reportRefusal(error, handler, event);
      this.telemetry.refused(handler.consumer, error);
      const refusal: Refusal = { error, handler, event };
      if (protocol.refusesAtTheDoor) protocol.refuse(context, refusal);
      letIn(context, new RefusedDelivery(refusal, protocol));
      return;
    }
    letIn(context, new Delivery(event, handler, this.service, protocol));
  }
}

function takes({ types }: GuardedHandler, { type }: ReceivedEvent): boolean {
  return types === undefined || types.has(type);
}

function notTaken({ consumer }: GuardedHandler, { type }: ReceivedEvent): InboxRefusedError {
  return new InboxRefusedError(
    `consumer "${consumer}" does not take events of type ${JSON.stringify(type)} here.`,
    422,
  );
}
