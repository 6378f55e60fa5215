import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { LowWater } from '../../libs/outbox/src/dispatch/low-water.js';

describe('how far the claims have come', () => {
  let low: LowWater;
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['performance'] });
    low = new LowWater();
  });
  afterEach(() => vi.useRealTimers());

  it('is where the next claim starts, after one that had to leave something', () => {
    const first = low.next();
    expect(first.fromUs).toBeUndefined();
    low.note(first, 100);
    expect(low.next().fromUs).toBe(100);
  });

  it('never goes back while claims that run side by side answer out of turn', () => {
    low.note(low.next(), 100);
    const [one, other] = [low.next(), low.next()];
    low.note(other, 300);
    low.note(one, 200);
    expect(low.next().fromUs).toBe(300);
  });

  it('is forgotten after a claim that left nothing, so that the next one looks at everything', () => {
    low.note(low.next(), 100);
    low.note(low.next(), undefined);
    expect(low.next().fromUs).toBeUndefined();
  });

  it('is looked below every second, and what is found there comes first', () => {
    low.note(low.next(), 500);
    vi.advanceTimersByTime(999);
    const late = low.next();
    expect(late.fromUs).toBe(500);
    vi.advanceTimersByTime(1);
    const sweep = low.next();
    expect(sweep.fromUs).toBeUndefined();
    expect(low.next().fromUs).toBe(500); // the others go on meanwhile

    low.note(sweep, 40);
    low.note(late, 600); // asked before the sweep
    expect(low.next().fromUs).toBe(40);
  });
});
