import type { EventHeaders } from './envelope.js';

/** An event as a consumer sees it: what every producer must give, and what ours adds. */
export interface ReceivedEvent {
  /** Stable id of the fact; the key by which a consumer recognises a second delivery. */
  readonly id: string;
  /** Who produced it (CloudEvents `source`). */
  readonly source: string;
  readonly type: string;
  readonly payload: unknown;
  readonly headers: EventHeaders;
  readonly version: number;
  readonly aggregateType: string | undefined;
  readonly aggregateId: string | undefined;
  /** Position among the ordered events of its aggregate, from 1 without gaps. */
  readonly sequence: bigint | undefined;
  readonly createdAt: Date | undefined;
}
