import type { ReceivedEvent } from './received-event.js';

/** Under which an application provides its EventHandlers. Shared by all copies of this package. */
export const EVENT_HANDLERS = Symbol.for('nestjs-transactional-outbox:event-handlers');

/** What one consumer of this application can do with events. */
export interface EventHandlers {
  /** Types that the handlers of a consumer take; undefined when it has none. */
  typesOf(consumer: string): ReadonlySet<string> | undefined;

  /** Processes an event once. Rejects with what kept it from being processed; nothing is recorded then. */
  handle(consumer: string, event: ReceivedEvent): Promise<'processed' | 'duplicate'>;
}
