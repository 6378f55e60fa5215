import { describe, expect, it } from 'vitest';
import { type Bound, type Comparison, compare, figure } from '../src/measure/comparison.js';
import { toJson } from '../src/report/json-line.js';

function comparison(name: string, ours: number, against: number, bound: Bound | undefined): Comparison {
  return compare(name, figure('ours', 'events/s', [ours]), figure('theirs', 'events/s', [against]), bound);
}

describe('the line for programs', () => {
  const parsed = (comparisons: readonly Comparison[]): unknown =>
    JSON.parse(toJson(new Map([['P1', { comparisons }]])));

  it('a target shows its tightest comparison and all of them', () => {
    expect(
      parsed([
        comparison('wide', 95, 100, { atLeast: 0.8 }),
        comparison('tight', 82, 100, { atLeast: 0.8 }),
        comparison('free', 10, 100, undefined),
      ]),
    ).toEqual({
      P1: {
        ours: 82,
        against: 100,
        unit: 'events/s',
        ratio: 0.82,
        target: 0.8,
        is: 'at least',
        met: true,
        parts: {
          wide: expect.objectContaining({ ratio: 0.95, met: true }),
          tight: expect.objectContaining({ ratio: 0.82, met: true }),
          free: { ours: 10, against: 100, unit: 'events/s', ratio: 0.1 },
        },
      },
    });
  });

  it('one missed bound makes a target missed, and is the one that is shown', () => {
    expect(parsed([comparison('fine', 1, 1, { atLeast: 0.8 }), comparison('slow', 3, 1, { atMost: 2 })])).toMatchObject(
      {
        P1: { ratio: 3, target: 2, is: 'at most', met: false },
      },
    );
  });

  it('a target without bounds shows its first comparison and is met', () => {
    expect(parsed([comparison('free', 2, 4, undefined)])).toMatchObject({ P1: { ratio: 0.5, met: true } });
    expect(parsed([])).toEqual({ P1: { met: true, parts: {} } });
  });

  it('a target that could not be measured says why, and is not met', () => {
    expect(JSON.parse(toJson(new Map([['P8', { failure: 'no Redis' }]])))).toEqual({
      P8: { met: false, failure: 'no Redis' },
    });
  });

  it('is one line', () => {
    expect(toJson(new Map([['P1', { comparisons: [comparison('a\nb', 1, 1, undefined)] }]]))).not.toContain('\n');
  });
});
