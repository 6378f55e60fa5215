import { ConfigurationError } from '../errors/index.js';
import type { GuardedHandler } from './guarded-handler.js';

/**
 * Refuses two handlers that process the same event type under the same name: whichever gets an event second would take
 * it for a duplicate and never run.
 *
 * @throws ConfigurationError naming both.
 */
export function refuseSharedEvents(handlers: readonly GuardedHandler[]): void {
  for (const [index, handler] of handlers.entries()) {
    const rival = handlers.slice(index + 1).find((other) => sharesEvents(handler, other));
    if (rival === undefined) continue;
    throw new ConfigurationError(
      `${handler.where} and ${rival.where} are both consumer "${handler.consumer}" of the same event type; one of them would only see duplicates. Give each its own name, or name different types with @InboxEvent or "events".`,
    );
  }
}

function sharesEvents(one: GuardedHandler, other: GuardedHandler): boolean {
  if (one.consumer !== other.consumer) return false;
  const { types } = other;
  return one.types === undefined || types === undefined || [...one.types].some((type) => types.has(type));
}
