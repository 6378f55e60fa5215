import 'reflect-metadata';
import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { ConfigurationError } from '../errors/index.js';
import { type EventClass, findEventDefinition } from '../event/index.js';
import { Delivery, findDelivery } from './delivery.js';

/** What the parameter decorators of a method ask for; `@InboxEvent` adds its classes. */
const PARAMETERS = Symbol('nestjs-transactional-outbox:inbox-parameters');

const EventParameter = createParamDecorator((_: unknown, context: ExecutionContext) =>
  requireDelivery(context).requireEventInstance(),
);

const EnvelopeParameter = createParamDecorator(
  (_: unknown, context: ExecutionContext) => requireDelivery(context).event,
);

const TransactionParameter = createParamDecorator((_: unknown, context: ExecutionContext) =>
  requireDelivery(context).requireManager(),
);

/**
 * The event's payload as an instance of that one of these classes whose `@OutboxEvent` type is the type of the message,
 * validated. A message of another type, or with fields that break the rules of class-validator, is refused with 422 and
 * nothing is recorded. A property that the class does not know stays on the instance.
 *
 * @throws ConfigurationError while the class is defined, when an event class has no `@OutboxEvent`.
 */
export function InboxEvent(first: EventClass, ...others: EventClass[]): ParameterDecorator {
  const classes = [first, ...others];
  for (const eventClass of classes) {
    if (typeof eventClass === 'function' && findEventDefinition(eventClass) !== undefined) continue;
    throw new ConfigurationError(
      `@InboxEvent(${eventClass?.name ?? String(eventClass)}): the class carries no @OutboxEvent, so no message type belongs to it.`,
    );
  }
  return parameter('@InboxEvent', EventParameter(), classes);
}

/** The whole message as a ReceivedEvent: id, type, source, payload, headers, aggregate. */
export function InboxEnvelope(): ParameterDecorator {
  return parameter('@InboxEnvelope', EnvelopeParameter());
}

/** The EntityManager of the transaction in which the event is recorded and the handler runs. */
export function InboxTransaction(): ParameterDecorator {
  return parameter('@InboxTransaction', TransactionParameter());
}

/**
 * The classes that `@InboxEvent` names on a method, an inherited one included; an empty list when it has only other
 * parameters of the inbox; undefined when it has none.
 */
export function inboxParametersOf(prototype: object, member: string): readonly EventClass[] | undefined {
  return Reflect.getMetadata(PARAMETERS, prototype, member) as readonly EventClass[] | undefined;
}

function parameter(name: string, decorate: ParameterDecorator, classes: EventClass[] = []): ParameterDecorator {
  return (prototype, member, index) => {
    if (member === undefined) {
      throw new ConfigurationError(`${name} belongs on a parameter of a handler, not of a constructor.`);
    }
    const earlier = Reflect.getOwnMetadata(PARAMETERS, prototype, member) as readonly EventClass[] | undefined;
    Reflect.defineMetadata(PARAMETERS, [...(earlier ?? []), ...classes], prototype, member);
    decorate(prototype, member, index);
  };
}

function requireDelivery(context: ExecutionContext): Delivery {
  const delivery = findDelivery(context);
  if (delivery instanceof Delivery) return delivery;
  throw new ConfigurationError(
    `${context.getClass().name}.${context.getHandler().name} asks for a message of the inbox, but InboxGuard does not guard it. Add @Inbox('consumer').`,
  );
}
