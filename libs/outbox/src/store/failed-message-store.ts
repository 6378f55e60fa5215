/** A message as it came, for whoever has to look at it, and for processing it once more. */
export interface RawMessage {
  /** Where it came from, for people: the queue, or topic, partition and offset. */
  readonly source: string;
  readonly contentType: string;
  /** What was beside the body, as text. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** By what a message is known: for each consumer there is at most one row with the id. */
export interface FailedMessageKey {
  /** At most 100 characters. */
  readonly consumer: string;
  /** The event's id, or, of a message that has none, a digest of it. At most 255 characters. */
  readonly messageId: string;
}

export interface MessageFailure extends FailedMessageKey {
  readonly eventType: string | undefined;
  /** Fit for a text column. */
  readonly error: string;
}

/** A message that is not delivered again until somebody decides about it. */
export interface ParkedMessage extends MessageFailure, RawMessage {
  readonly id: string;
  readonly attempts: number;
  readonly parkedAt: Date;
}

export interface ParkedMessageFilter {
  readonly consumer?: string | undefined;
  readonly ids?: readonly string[] | undefined;
}

/**
 * Messages that a consumer could not process. Contract: every call is a transaction of its own, outside of the one that
 * failed; a message that is parked a second time stays one row, with what was said last.
 */
export interface FailedMessageStore {
  /** Counts one more failure. @returns how many there are. */
  count(failure: MessageFailure): Promise<number>;
  /** Keeps the message. @param attempts at least so many. */
  park(failure: MessageFailure, message: RawMessage): Promise<void>;
  /** Oldest first. */
  list(filter: ParkedMessageFilter, limit: number): Promise<readonly ParkedMessage[]>;
  /** @returns how many parked messages were removed. */
  remove(filter: ParkedMessageFilter): Promise<number>;
  /** Forgets failures that are older and were not parked. @returns how many. */
  prune(olderThanMs: number, batchSize: number): Promise<number>;
}
