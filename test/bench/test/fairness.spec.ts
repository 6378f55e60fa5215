import { describe, expect, it } from 'vitest';
import type { PublishedSlice } from '../src/scale/drain-together.js';
import { progressOf, sharesOf, widestGap } from '../src/scale/fairness.js';

const slice = (second: number, process: string, destination: string, events: number): PublishedSlice => ({
  second,
  process,
  destination,
  events,
});

describe('fairness of several processes', () => {
  it('shares are those of what was published, by process or by destination', () => {
    const slices = [slice(1, 'b', 'left', 30), slice(1, 'a', 'right', 50), slice(2, 'a', 'left', 20)];
    expect([...sharesOf(slices, 'process')]).toEqual([
      ['a', 70],
      ['b', 30],
    ]);
    expect([...sharesOf(slices, 'destination')]).toEqual([
      ['left', 50],
      ['right', 50],
    ]);
  });

  it('progress goes from nothing to all, in the order of time whatever the order of the reports', () => {
    const slices = [slice(10, 'a', 'left', 1000), slice(5, 'b', 'left', 3000)];
    const progress = progressOf(slices, 'left');
    expect(progress[0]).toEqual([0, 0]);
    expect(progress[10]).toEqual([5, 3]);
    expect(progress.at(-1)).toEqual([10, 4]);
  });

  it('destinations that are served in turn have a small gap, one after the other the widest', () => {
    const inTurn = [1, 2, 3, 4].flatMap((second) => [
      slice(second, 'a', 'left', 100),
      slice(second, 'a', 'right', 100),
    ]);
    expect(widestGap(inTurn, ['left', 'right'])).toBe(0);
    const oneAfterTheOther = [slice(1, 'a', 'left', 400), slice(2, 'a', 'right', 400)];
    expect(widestGap(oneAfterTheOther, ['left', 'right'])).toBe(100);
    expect(widestGap(oneAfterTheOther, ['right', 'left'])).toBe(100);
  });
});
