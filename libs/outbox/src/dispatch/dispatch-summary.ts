/** What became of the deliveries of one or several claims. */
export interface DispatchSummary {
  readonly claimed: number;
  readonly delivered: number;
  /** Of the delivered ones: the destination said that it had the event before. */
  readonly duplicates: number;
  /** Will be tried again after a back-off; an attempt was spent. */
  readonly retried: number;
  /** Put off without spending an attempt: business reasons, Retry-After, or an unreachable destination. */
  readonly deferred: number;
  /** Became dead letters, reaped ones included. */
  readonly dead: number;
  /** Not tried and given back. */
  readonly released: number;
  /** Outcomes that could not be written because another dispatcher had taken the delivery over. */
  readonly leaseLost: number;
  /** Failures that the transport threw instead of classifying them. */
  readonly unclassified: number;
}

export const nothingDispatched: DispatchSummary = {
  claimed: 0,
  delivered: 0,
  duplicates: 0,
  retried: 0,
  deferred: 0,
  dead: 0,
  released: 0,
  leaseLost: 0,
  unclassified: 0,
};

export function addSummaries(one: DispatchSummary, other: DispatchSummary): DispatchSummary {
  return {
    claimed: one.claimed + other.claimed,
    delivered: one.delivered + other.delivered,
    duplicates: one.duplicates + other.duplicates,
    retried: one.retried + other.retried,
    deferred: one.deferred + other.deferred,
    dead: one.dead + other.dead,
    released: one.released + other.released,
    leaseLost: one.leaseLost + other.leaseLost,
    unclassified: one.unclassified + other.unclassified,
  };
}
