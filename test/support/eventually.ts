import { setTimeout as wait } from 'node:timers/promises';

export interface EventuallyOptions {
  /** How long the check may go on failing; default 10 s. */
  readonly timeoutMs?: number;
  /** Pause between two checks; default 20 ms. */
  readonly intervalMs?: number;
}

/**
 * Repeats `check` until it does not throw and returns what it returned. When the time is over, throws the error of the
 * last check, so that a test fails with the reason and not with "timeout". A check that hangs counts as failing.
 */
export async function eventually<Result>(
  check: () => Result | Promise<Result>,
  { timeoutMs = 10_000, intervalMs = 20 }: EventuallyOptions = {},
): Promise<Result> {
  const deadline = performance.now() + timeoutMs;
  let lastError: unknown = new Error(`The check did not finish within ${timeoutMs} ms.`);
  const over = new AbortController();
  const timeUp = wait(timeoutMs, undefined, { signal: over.signal }).then(() => {
    throw lastError;
  });
  timeUp.catch(() => undefined); // it loses the race when the check succeeds
  try {
    for (;;) {
      try {
        return await Promise.race([check(), timeUp]);
      } catch (error) {
        lastError = error;
      }
      if (performance.now() + intervalMs > deadline) throw lastError;
      await wait(intervalMs);
    }
  } finally {
    over.abort();
  }
}
