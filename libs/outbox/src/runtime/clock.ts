/** Milliseconds of a clock that never jumps: for deadlines and durations inside this process. */
export function monotonicMs(): number {
  return performance.now();
}

/** Wall clock of this process. Never used for leases, order or retention: those belong to the database. */
export function wallClockMs(): number {
  return Date.now();
}
