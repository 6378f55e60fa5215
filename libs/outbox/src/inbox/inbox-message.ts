import type { ReceivedEvent } from '../event/index.js';

/** An event for one consumer. */
export interface InboxMessage {
  /** Who processes the event; each consumer has its own once. At most 100 characters. */
  readonly consumer: string;
  /**
   * The id has at most 255 characters and is the same for every delivery of the fact. Headers and time place the
   * processing in the trace of the event; see docs/operations/telemetry.md.
   */
  readonly event: Pick<ReceivedEvent, 'id' | 'type' | 'payload'> &
    Partial<Pick<ReceivedEvent, 'headers' | 'createdAt'>>;
  /** Store what the handler gives back and return it to duplicates; it must be JSON of at most 1 MiB. Default false. */
  readonly keepResult?: boolean;
}

/** `processed`: this call did the work. `duplicate`: an earlier one did, and nothing was done now. */
export type InboxResult<T> =
  | { readonly outcome: 'processed'; readonly result: T }
  /** `result` is the JSON form of the first one's result, or undefined when none was kept. */
  | { readonly outcome: 'duplicate'; readonly result: unknown };
