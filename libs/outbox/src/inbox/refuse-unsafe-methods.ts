import { ConfigurationError } from '../errors/index.js';
import { answersEarlyBy } from './answers-early.js';
import { findConsumer } from './consumer.decorator.js';
import type { HandlerMethod } from './handler-method.js';
import { inboxParametersOf } from './parameter.decorators.js';

/**
 * Refuses, while the application starts, what the inbox could not protect: routes that speak of it without its guard,
 * and guarded routes that answer by themselves.
 *
 * @throws ConfigurationError
 */
export function refuseUnsafeMethods(methods: readonly HandlerMethod[]): void {
  for (const method of methods) {
    if (!method.isGuarded) refuseUnguarded(method);
    else if (method.isRoute) refuseEarlyAnswer(method);
  }
  for (const controller of new Set(methods.map((method) => method.controller))) refuseIdleName(controller, methods);
}

function refuseUnguarded({ where, method, controller, name }: HandlerMethod): void {
  const speaksOfInbox =
    findConsumer(method) !== undefined || inboxParametersOf(controller.prototype, name) !== undefined;
  if (!speaksOfInbox) return;
  throw new ConfigurationError(
    `${where} is a handler of the inbox, but InboxGuard does not guard it, so every delivery would be processed again. Say @Inbox('name'), or add @UseGuards(InboxGuard).`,
  );
}

/** A name on the class is for its guarded handlers; the others may be anything, but there must be one. */
function refuseIdleName(controller: HandlerMethod['controller'], methods: readonly HandlerMethod[]): void {
  if (findConsumer(controller) === undefined) return;
  const own = methods.filter((method) => method.controller === controller);
  if (own.length === 0 || own.some((method) => method.isGuarded)) return;
  throw new ConfigurationError(
    `${controller.name} carries @InboxConsumer, but InboxGuard guards none of its methods. Say @Inbox('name') on the class or on its handlers.`,
  );
}

function refuseEarlyAnswer(method: HandlerMethod): void {
  const reason = answersEarlyBy(method);
  if (reason === undefined) return;
  throw new ConfigurationError(
    `${method.where} uses ${reason}, so it would answer before the commit, and a duplicate could not be answered. Return the answer instead; @Res({ passthrough: true }) may set headers.`,
  );
}
