import type { ExecutionContext } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { ConfigurationError } from '../errors/index.js';
import type { ReceivedEvent } from '../event/index.js';
import { toEventInstance } from './event-instance.js';
import type { GuardedHandler } from './guarded-handler.js';
import { methodOf } from './handler-identity.js';
import type { InboundProtocol } from './inbound-protocol.js';
import type { InboxService } from './inbox.service.js';
import type { InboxResult } from './inbox-message.js';
import type { Refusal } from './refusal.js';
import { reportRefusal } from './report-refusal.js';

/** What the handler of a delivery can ask for; there only while it runs. */
interface RunningHandler {
  readonly manager: EntityManager;
  readonly eventInstance: object | undefined;
}

/** What the guard leaves for the interceptor. */
export interface Admitted {
  /**
   * Sees the message through to its end.
   *
   * @returns what the sender is answered, after COMMIT.
   * @throws what the protocol makes of a refusal, so that the sender learns of it.
   */
  apply(context: ExecutionContext, callHandler: () => Promise<unknown>): Promise<unknown>;
}

/** A message that cannot be taken, of a protocol that must not be told so by the guard. */
export class RefusedDelivery implements Admitted {
  constructor(
    private readonly refusal: Refusal,
    private readonly protocol: InboundProtocol,
  ) {}

  /** The handler is not called. */
  async apply(context: ExecutionContext): Promise<unknown> {
    return this.protocol.refuse(context, this.refusal);
  }
}

/** An event of a type that the handler does not take, on a topic with others: it is not for this consumer. */
export class PassingDelivery implements Admitted {
  constructor(
    private readonly handler: GuardedHandler,
    private readonly protocol: InboundProtocol,
  ) {}

  /** The handler is not called, and nothing recorded. */
  async apply(context: ExecutionContext): Promise<unknown> {
    return this.protocol.settle(context, this.handler, { outcome: 'duplicate', result: undefined });
  }
}

/** One message that the guard has let in, on its way to one handler. */
export class Delivery implements Admitted {
  private running: RunningHandler | undefined;

  constructor(
    readonly event: ReceivedEvent,
    private readonly handler: GuardedHandler,
    private readonly service: InboxService,
    private readonly protocol: InboundProtocol,
  ) {}

  /** Records the event and calls the handler in one transaction; after an error nothing is recorded. */
  async apply(context: ExecutionContext, callHandler: () => Promise<unknown>): Promise<unknown> {
    const { consumer, keepResult } = this.handler;
    let result: InboxResult<unknown>;
    try {
      result = await this.service.process({ consumer, event: this.event, keepResult }, (manager) =>
        this.run(manager, callHandler),
      );
    } catch (error) {
      reportRefusal(error, this.handler, this.event);
      return this.protocol.refuse(context, { error, handler: this.handler, event: this.event });
    }
    return this.protocol.settle(context, this.handler, result);
  }

  /** The validated event. @throws ConfigurationError outside of the handler. */
  requireEventInstance(): object {
    return this.requireRunning().eventInstance ?? this.notRunning();
  }

  /** Manager of the open transaction. @throws ConfigurationError outside of the handler. */
  requireManager(): EntityManager {
    return this.requireRunning().manager;
  }

  /**
   * The fields are checked after the record, not before: a second delivery of an event that was processed is a
   * duplicate, also when the rules have become stricter since.
   */
  private async run(manager: EntityManager, callHandler: () => Promise<unknown>): Promise<unknown> {
    const eventClass = this.handler.eventClassOf(this.event.type);
    const eventInstance = eventClass && (await toEventInstance(eventClass, this.event));
    this.running = { manager, eventInstance };
    try {
      const answer = await callHandler();
      this.protocol.requireDone?.(answer);
      return answer;
    } finally {
      this.running = undefined;
    }
  }

  private requireRunning(): RunningHandler {
    return this.running ?? this.notRunning();
  }

  private notRunning(): never {
    throw new ConfigurationError(
      `${this.handler.where} was called without the transaction of the inbox, and was stopped. InboxModule must be imported when the application starts, not loaded later.`,
    );
  }
}

/**
 * Guard, interceptor and parameters of one call get contexts of their own; what they share is the message itself. Each
 * entry lives as long as its message, and belongs to one handler of it.
 */
const deliveries = new WeakMap<object, Map<unknown, Admitted>>();

export function letIn(context: ExecutionContext, delivery: Admitted): void {
  const carrier = carrierOf(context);
  const known = deliveries.get(carrier) ?? new Map<unknown, Admitted>();
  deliveries.set(carrier, known.set(methodOf(context.getHandler()), delivery));
}

export function findDelivery(context: ExecutionContext): Admitted | undefined {
  return deliveries.get(carrierOf(context))?.get(methodOf(context.getHandler()));
}

/**
 * The event that InboxGuard has let in to this handler; for interceptors, which have no parameters. It says
 * nothing about whether the event is new.
 *
 * @returns undefined where the guard has let nothing in: there is no guard, or the broker's message is no event of this
 * handler.
 */
export function receivedEventOf(context: ExecutionContext): ReceivedEvent | undefined {
  const delivery = findDelivery(context);
  return delivery instanceof Delivery ? delivery.event : undefined;
}

/** The object that stands for the message: for HTTP the request, else Nest's context of it, or golevelup's raw message. */
function carrierOf(context: ExecutionContext): object {
  return context.getArgByIndex<object>(context.getType() === 'http' ? 0 : 1);
}
