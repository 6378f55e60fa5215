import type { EventEnvelope } from '../event/index.js';
import type { PublishOutcome } from './publish-outcome.js';

/** One event on its way to one destination. */
export interface OutgoingEvent {
  readonly envelope: EventEnvelope;
  /** Name of the destination, as in the configuration. */
  readonly destination: string;
  /** Which attempt this is, from 1; a redrive counts from 1 again. */
  readonly attempt: number;
  /**
   * Number of the redrive or replay by which somebody asked for the event again; 0 for none. What a destination deduplicates by
   * has to differ then.
   */
  readonly redrives: number;
}

/** What a transport promises. The contract suite tests exactly what is declared here. */
export interface TransportCapabilities {
  /**
   * True: `publish` takes many events at once. False: the dispatcher calls it with one event at a time, side by side
   * up to the destination's `concurrency`, and keeps the order per aggregate itself.
   */
  readonly batch: boolean;
  /**
   * Only with `batch`: within one call, events of one aggregate are published in the order given, and after one that
   * was not delivered none of its aggregate is published (their outcome is `held`). Without it the dispatcher never
   * puts two ordered events of one aggregate into the same call.
   */
  readonly keepsOrderPerKey: boolean;
  /** The destination itself drops a second event with the same id, at least for a while. */
  readonly deduplicates: boolean;
}

/** The application that a destination belongs to. */
export interface TransportHost {
  /** Name of the destination, as in the configuration. */
  readonly destination: string;
  /** Event types that are routed to it. */
  readonly types: readonly string[];
  /** Everything that the application provides under a token. */
  findAll<T>(token: symbol): readonly T[];
}

/**
 * Hands events to one destination. Contract:
 *
 * - The outcomes have the length and the order of `batch`.
 * - `delivered` only when the destination acknowledged that very event.
 * - `signal` aborts when the time is over (its reason is a `TimeoutError`), the lease is lost or the process ends: stop,
 *   close what was opened for the call, and answer within 100 ms; later the outcome counts as unknown, that is `retry` (at the end of the process: given back).
 * - A rejection counts as `retry` for every event of the call and is reported as unclassified.
 * - Calls overlap; a transport that cannot bear it queues them itself.
 */
export interface Transport {
  readonly capabilities: TransportCapabilities;
  publish(batch: readonly OutgoingEvent[], signal: AbortSignal): Promise<readonly PublishOutcome[]>;
  /** Called once when the application has started, before the first publish; may be left out. Throws to stop the start. */
  attach?(host: TransportHost): void;
  /** Called once before the first publish, and again after a failure of its own; may be left out. */
  connect?(): Promise<void>;
  /** Called once when the dispatcher has stopped; may be left out. */
  close?(): Promise<void>;
}
