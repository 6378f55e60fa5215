import { ConfigurationError } from '../errors/index.js';
import { type EventClass, findEventDefinition } from '../event/index.js';
import { type ConsumerDeclaration, findConsumer } from './consumer.decorator.js';
import type { GuardedHandler } from './guarded-handler.js';
import type { HandlerMethod } from './handler-method.js';
import { inboxParametersOf } from './parameter.decorators.js';

/** @throws ConfigurationError when the consumer has no name, or the decorators contradict each other. */
export function describeHandler(handler: HandlerMethod, takersOfItsPattern: number): GuardedHandler {
  const declaration = requireConsumer(handler);
  const classes = new Map<string, EventClass>();
  for (const eventClass of inboxParametersOf(handler.controller.prototype, handler.name) ?? []) {
    classes.set(typeOf(handler.where, eventClass), eventClass);
  }
  const declared = declaration.events?.map((event) =>
    typeof event === 'string' ? event : typeOf(handler.where, event),
  );
  const surplus = classes.size === 0 ? undefined : declared?.find((type) => !classes.has(type));
  if (surplus !== undefined) {
    throw new ConfigurationError(
      `${handler.where} names the type "${surplus}" in "events", but its @InboxEvent has no class for it. Add the class there, or take the message with @InboxEnvelope().`,
    );
  }
  const types = declared ?? (classes.size === 0 ? undefined : [...classes.keys()]);
  return {
    where: handler.where,
    consumer: declaration.consumer,
    keepResult: declaration.keepResult ?? false,
    answersRequests: handler.isRoute || handler.isInProcess || (handler.subscription?.answersRequests ?? false),
    takersOfItsPattern,
    types: types && new Set(types),
    eventClassOf: (type) => classes.get(type),
  };
}

/** The name on the method comes before the one on the class. */
export function consumerOf({ method, controller }: HandlerMethod): ConsumerDeclaration | undefined {
  return findConsumer(method) ?? findConsumer(controller);
}

function requireConsumer(handler: HandlerMethod): ConsumerDeclaration {
  const declaration = consumerOf(handler);
  if (declaration !== undefined) return declaration;
  throw new ConfigurationError(
    `${handler.where} is guarded by InboxGuard, but has no consumer name, without which nothing can be recorded. Add @InboxConsumer('name'), or say @Inbox('name') for both.`,
  );
}

function typeOf(where: string, eventClass: EventClass): string {
  const definition = findEventDefinition(eventClass);
  if (definition !== undefined) return definition.type;
  throw new ConfigurationError(`${where} names ${eventClass.name} in "events", which carries no @OutboxEvent.`);
}
