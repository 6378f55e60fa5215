import type { Random } from './random.js';

/**
 * Full jitter: uniform in 0 to min(cap, base × 2^attempt) ms, so that what failed together does not come back together
 * (AWS Architecture Blog, "Exponential Backoff And Jitter").
 */
export function fullJitterMs(attempt: number, baseMs: number, capMs: number, random: Random): number {
  return random() * Math.min(capMs, baseMs * 2 ** Math.min(attempt, 40));
}
