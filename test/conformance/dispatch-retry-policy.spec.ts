import { describe, expect, it } from 'vitest';
import { fullJitterMs } from '../../libs/outbox/src/runtime/full-jitter.js';

const LOWEST = (): number => 0;
const HIGHEST = (): number => 1 - Number.EPSILON;

describe('the back-off', () => {
  it('is uniform from nothing to the base doubled for each attempt', () => {
    for (const attempt of [1, 2, 3, 8]) {
      expect(fullJitterMs(attempt, 1000, 1e9, LOWEST)).toBe(0);
      expect(fullJitterMs(attempt, 1000, 1e9, HIGHEST)).toBeCloseTo(1000 * 2 ** attempt, 3);
      expect(fullJitterMs(attempt, 1000, 1e9, () => 0.25)).toBe(250 * 2 ** attempt);
    }
  });

  it('never exceeds its cap, whatever the attempt', () => {
    for (const attempt of [9, 12, 40, 1000, 1e9]) {
      const longest = fullJitterMs(attempt, 1000, 300_000, HIGHEST);
      expect(longest).toBeLessThanOrEqual(300_000);
      expect(longest).toBeGreaterThan(299_999);
    }
  });

  it('spreads what failed together over the whole span', () => {
    const waits = Array.from({ length: 2000 }, () => fullJitterMs(4, 1000, 300_000, Math.random));
    const tenths = new Set(waits.map((wait) => Math.floor(wait / 1600)));
    expect(tenths).toEqual(new Set([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]));
  });
});
