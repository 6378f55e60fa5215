/** The newest entries that a delivery keeps; a row must stay small. */
const LONGEST_HISTORY = 20;
/** Of each error, in characters. `last_error` has all of the newest one. */
const LONGEST_ERROR = 500;

/** An expression: the history of delivery `d` with the attempt that has just failed. An attempt that is refunded is none. */
export function withFailedAttempt(error: string): string {
  return withEntry(
    `jsonb_build_object('at', clock_timestamp(), 'attempt', d.attempts, 'error', left(${error}, ${LONGEST_ERROR}))`,
  );
}

/** An expression: the history of delivery `d` with a person's decision to send it again. */
export function withRedrive(by: string): string {
  return withEntry(`jsonb_build_object('at', clock_timestamp(), 'redrivenBy', ${by})`);
}

function withEntry(entry: string): string {
  const kept = `case when jsonb_array_length(d.history) >= ${LONGEST_HISTORY} then d.history - 0 else d.history end`;
  return `coalesce(${kept}, '[]') || ${entry}`;
}
