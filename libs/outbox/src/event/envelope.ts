/** Text values that travel beside the payload: trace context, tenant, correlation. Keys and values are plain text. */
export type EventHeaders = Readonly<Record<string, string>>;

/** One fact with everything that identifies it. The id is stable over every retry and redrive. */
export interface EventEnvelope {
  /** UUID version 7, lower case. */
  readonly id: string;
  /** Event type, for example `order.placed`; at most 255 characters. */
  readonly type: string;
  /** What kind of thing the event is about, for example `order`; at most 255 characters. */
  readonly aggregateType: string;
  /** Which one it is about; with the type it is the ordering key. At most 255 characters. */
  readonly aggregateId: string;
  readonly payload: unknown;
  readonly headers: EventHeaders;
  /** Version of the payload's shape, from 1. */
  readonly version: number;
  /** Position among the ordered events of this aggregate, from 1 without gaps; undefined for unordered types. */
  readonly sequence: bigint | undefined;
  /** Database time at which the row was written. */
  readonly createdAt: Date;
}
