import { describe, expect, it } from 'vitest';
import { compare, figure } from '../src/measure/comparison.js';
import { interleave } from '../src/measure/interleave.js';
import { Progress, readable } from '../src/measure/progress.js';
import { median, percentile } from '../src/measure/statistics.js';

describe('what is made of samples', () => {
  it('the median is the middle one, or the mean of the two in the middle, whatever their order', () => {
    expect(median([9, 1, 5])).toBe(5);
    expect(median([4, 1, 3, 2])).toBe(2.5);
    expect(median([10, 9])).toBe(9.5);
  });

  it('a percentile lies between its neighbours, and the ends are the extremes', () => {
    const samples = [40, 10, 30, 20];
    expect(percentile(samples, 0)).toBe(10);
    expect(percentile(samples, 1)).toBe(40);
    expect(percentile(samples, 0.9)).toBeCloseTo(37);
    expect(samples).toEqual([40, 10, 30, 20]);
  });

  it('no samples have no median', () => {
    expect(() => median([])).toThrow('there is no sample');
  });

  it('a ratio is that of the rounds, so that a machine which gets slower does not change it', () => {
    const { ratio } = compare('drift', figure('a', '', [100, 50, 10]), figure('b', '', [200, 100, 20]), undefined);
    expect(ratio).toBe(0.5);
    const medians = compare('order', figure('a', '', [1, 2, 3]), figure('b', '', [3, 2, 1]), undefined);
    expect(medians.ratio).toBe(1);
  });

  it('a bound is met on its good side and at its edge', () => {
    const met = (ours: number, bound: { atLeast: number } | { atMost: number }): boolean =>
      compare('', figure('a', '', [ours]), figure('b', '', [1]), bound).isMet;
    expect(met(0.8, { atLeast: 0.8 })).toBe(true);
    expect(met(0.79, { atLeast: 0.8 })).toBe(false);
    expect(met(1.4, { atMost: 1.4 })).toBe(true);
    expect(met(1.41, { atMost: 1.4 })).toBe(false);
    expect(met(Number.NaN, { atMost: 1.4 })).toBe(false);
  });

  it('sides that were not measured equally often are not compared', () => {
    expect(() => compare('p', figure('a', '', [1, 2]), figure('b', '', [1]), undefined)).toThrow('p: the sides have');
  });

  it('sides are measured turn by turn, each prepared before, and the warm-up does not count', async () => {
    const calls: string[] = [];
    const side = (name: string) => ({
      name,
      prepare: async () => void calls.push(`prepare ${name}`),
      measure: async () => calls.push(name),
    });
    const quiet = { step: () => undefined, sample: () => undefined } as unknown as Progress; // has private fields
    const figures = await interleave({ a: side('a'), b: side('b') }, { repeats: 2, unit: 'n', progress: quiet });
    expect(calls.filter((call) => !call.startsWith('prepare'))).toEqual(['a', 'b', 'b', 'a', 'a', 'b']);
    expect(calls.slice(0, 4)).toEqual(['prepare a', 'a', 'prepare b', 'b']);
    expect(figures.a.samples).toEqual([8, 10]);
    expect(figures.b.samples).toEqual([6, 12]);
  });

  it('numbers are short', () => {
    expect([readable(1234567.8), readable(999.6), readable(0.012345), readable(0)]).toEqual([
      '1,234,568',
      '1000',
      '0.0123',
      '0',
    ]);
  });
});
