/** Times of a soak. Every window holds two whole outages, so that the first and the last one had the same weather. */
export interface SoakPlan {
  /** Before anything is recorded, in ms. */
  readonly warmUpMs: number;
  readonly durationMs: number;
  /** Length of the first and of the last part, which are compared. */
  readonly windowMs: number;
  readonly sampleMs: number;
  /** From the beginning of one outage of the failing destination to that of the next. */
  readonly outageEveryMs: number;
  readonly outageMs: number;
  readonly pruneEveryMs: number;
  /** Delivered events that are older go. */
  readonly keepMs: number;
  readonly eventsPerSecond: number;
}

/** From a quarter of an hour on, windows of five minutes and a sample every ten seconds; shorter in proportion. */
export function planSoak(minutes: number): SoakPlan {
  const durationMs = minutes * 60_000;
  const windowMs = Math.min(5 * 60_000, durationMs / 3);
  const outageEveryMs = windowMs / 2;
  return {
    warmUpMs: windowMs / 5,
    durationMs,
    windowMs,
    sampleMs: windowMs / 30,
    outageEveryMs,
    outageMs: outageEveryMs / 7.5,
    pruneEveryMs: Math.min(5000, windowMs / 20),
    keepMs: Math.min(10_000, windowMs / 10),
    eventsPerSecond: 200,
  };
}
