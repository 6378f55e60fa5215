import type { EventClass } from '../event/index.js';

/** What the decorators of one guarded handler say. */
export interface GuardedHandler {
  /** `ShippingController.onOrderPlaced`, for messages. */
  readonly where: string;
  readonly consumer: string;
  readonly keepResult: boolean;
  /** Somebody waits for its answer, and hears of its failure: a route, or a `@MessagePattern`. */
  readonly answersRequests: boolean;
  /** How many guarded handlers get each message that this one gets; 1 for a route. */
  readonly takersOfItsPattern: number;
  /** Types that it takes; undefined means all. */
  readonly types: ReadonlySet<string> | undefined;
  /** The class that `@InboxEvent` names for a type. */
  eventClassOf(type: string): EventClass | undefined;
}

/** The handlers that belong to one inbox. */
export interface GuardedHandlers {
  /** Undefined until the application has started: what Nest loads later has no interceptor. */
  find(controller: unknown, handler: object): GuardedHandler | undefined;
}
