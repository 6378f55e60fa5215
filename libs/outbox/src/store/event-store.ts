import type { TransactionTicket } from '../transaction/index.js';

/** An event that has passed every check, ready to be written. */
export interface StorableEvent {
  readonly id: string;
  readonly type: string;
  readonly aggregateType: string;
  readonly aggregateId: string;
  /** JSON text. */
  readonly payload: string;
  readonly payloadBytes: number;
  /** JSON text of an object. */
  readonly headers: string;
  readonly version: number;
  /** Signed 64-bit decimal for ordered types; undefined for the others. */
  readonly orderingKey: string | undefined;
  readonly destinations: readonly string[];
}

/**
 * Writes events and their deliveries. Contract: all events of a call are stored by one statement inside the ticket's
 * transaction, or none is and the call rejects; events of one ordered aggregate get consecutive sequence numbers in
 * the order given.
 */
export interface EventStore {
  insert(ticket: TransactionTicket, events: readonly StorableEvent[]): Promise<void>;
}
