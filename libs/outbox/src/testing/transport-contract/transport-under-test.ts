import type { OutgoingEvent, PublishOutcome, Transport } from '../../transports/index.js';

/** What a destination holds of an event, as a consumer of it would read it. */
export interface HeldEvent {
  readonly id: string;
  readonly type: string;
  readonly payload: unknown;
  readonly headers: Readonly<Record<string, string>>;
  readonly aggregateId: string | undefined;
  readonly sequence: bigint | undefined;
}

/** What the contract suite needs to know of a transport and its real destination. */
export interface TransportUnderTest {
  /** A new transport to the destination; the suite closes it. */
  open(): Transport;
  /**
   * Everything that the destination has taken since the last call, in its order. Resolves when there are at least
   * `count`, and rejects when they do not come in time.
   */
  take(count: number): Promise<readonly HeldEvent[]>;
  /** The same transport to a place where nobody listens. */
  openUnreachable(): Transport;
  /** Turns an event into one that the destination, or the transport for it, refuses for good; undefined where none is. */
  readonly spoil?: ((event: OutgoingEvent) => OutgoingEvent) | undefined;
  /** Turns an event into one that cannot be routed to anybody; undefined where there is no such thing. */
  readonly misroute?: ((event: OutgoingEvent) => OutgoingEvent) | undefined;
}

/** One promise, and what shows that it is kept: for `it(title, run)` of whatever runs the tests. */
export interface ContractCase {
  readonly title: string;
  /** Rejects with an AssertionError when the promise is broken. */
  run(): Promise<void>;
}

export type Outcomes = readonly PublishOutcome[];
