import type { ReceivedEvent } from '../../event/index.js';
import type { RawMessage } from '../../store/index.js';

/**
 * One kind of broker, as the contexts of Nest's servers show its messages. Contract: `accept` is called once for a
 * message, after the commit; `deliverAgain` instead, when somebody has to see it once more. Where nobody waits for an
 * acknowledgement there is neither.
 */
export interface MessageSource {
  /** For messages, for example `RabbitMQ`. */
  readonly name: string;
  /** Whether the broker delivers again what was not accepted. Where it does not, a failed message is parked at once. */
  readonly redelivers: boolean;
  /** @param context what a handler would get by `@Ctx()`. */
  isSourceOf(context: object): boolean;
  /** The event, where it is known already; else it is read from the message. */
  event?(context: object): ReceivedEvent;
  /** Told what the inbox said of the message, before it is accepted. */
  settled?(context: object, outcome: 'processed' | 'duplicate'): void;
  /** The message as it came. @param data what a handler would get by `@Payload()`. */
  raw(context: object, data: unknown): RawMessage;
  accept?(context: object): void | Promise<void>;
  deliverAgain?(context: object, delayMs: number): void | Promise<void>;
}
