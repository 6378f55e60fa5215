import type { ResolvedDestination } from '../../config/index.js';

/**
 * The longest time in ms after which a destination that can be reached still gets an event: every attempt and every wait as
 * long as they may be, or deferred until its age limit. A dead letter that somebody redrives comes later still.
 */
export function longestRedeliveryMs(destination: ResolvedDestination): number {
  const { maxAttempts, publishTimeoutMs, retryBaseMs, retryCapMs, maxDeferAgeMs } = destination;
  let retriesMs = maxAttempts * publishTimeoutMs;
  for (let attempt = 1; attempt < maxAttempts; attempt += 1) {
    retriesMs += Math.min(retryCapMs, retryBaseMs * 2 ** attempt);
  }
  return Math.max(retriesMs, maxDeferAgeMs);
}
