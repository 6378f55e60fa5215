import type { EntityManager } from 'typeorm';

/** What is written when a consumer takes an event for the first time. */
export interface ProcessedEntry {
  /** At most 100 characters. */
  readonly consumer: string;
  /** At most 255 characters. */
  readonly eventId: string;
  /** At most 255 characters. */
  readonly eventType: string;
  /** SHA-256 of the event's content. */
  readonly contentDigest: Buffer;
}

/** What an earlier delivery left. */
export interface ProcessedEvent {
  readonly contentDigest: Buffer;
  /** What the handler gave back, if it was kept. */
  readonly result: unknown;
}

/** `earlier` is undefined when the record came into being while this one was waiting for it: find() sees it then. */
export type RecordOutcome =
  | { readonly isRecorded: true }
  | { readonly isRecorded: false; readonly earlier: ProcessedEvent | undefined };

/**
 * The records of what each consumer has processed. Contract: every call runs in the transaction of the manager that it
 * is given, so a record exists if and only if the consumer's own work was committed with it.
 */
export interface InboxStore {
  /**
   * Records the event for the consumer.
   *
   * Waits for another transaction that is recording the same one, at most `waitMs` (from 1): if that one rolls back,
   * this one records; if it takes longer, the call rejects with an error that is transient.
   *
   * @returns not recorded when the consumer has recorded it before; the transaction is usable afterwards.
   */
  record(manager: EntityManager, entry: ProcessedEntry, waitMs: number): Promise<RecordOutcome>;

  /** The record of an event as this transaction sees it; undefined when there is none. */
  find(manager: EntityManager, consumer: string, eventId: string): Promise<ProcessedEvent | undefined>;

  /** Adds the handler's result, as JSON text, to the record that this transaction has made. */
  keepResult(manager: EntityManager, consumer: string, eventId: string, resultJson: string): Promise<void>;

  /** True for an error after which the same transaction may succeed as a whole: a conflict, a timeout, a lost server. */
  isTransient(error: unknown): boolean;
}
