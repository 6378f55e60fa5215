import type { Comparison } from '../measure/comparison.js';
import type { TargetResult } from '../targets/target.js';

/** What became of one target: its result, or why it could not be measured. */
export type TargetOutcome = TargetResult | { readonly failure: string };

/** One line for programs: each target with its tightest comparison, and all of them under `parts`. */
export function toJson(outcomes: ReadonlyMap<string, TargetOutcome>): string {
  return JSON.stringify(Object.fromEntries([...outcomes].map(([id, outcome]) => [id, summaryOf(outcome)])));
}

function summaryOf(outcome: TargetOutcome): object {
  if ('failure' in outcome) return { met: false, failure: outcome.failure };
  const { comparisons } = outcome;
  const bounded = comparisons.filter(({ bound }) => bound !== undefined);
  const tightest = bounded.toSorted((a, b) => slack(a) - slack(b))[0] ?? comparisons[0];
  const parts = Object.fromEntries(comparisons.map((comparison) => [comparison.name, lineOf(comparison)]));
  return { ...(tightest && lineOf(tightest)), met: bounded.every(({ isMet }) => isMet), parts };
}

/** How far the ratio is on the good side of its bound, as a factor; below 1 it is on the wrong side. */
function slack({ ratio, bound }: Comparison): number {
  if (bound === undefined) return Number.POSITIVE_INFINITY;
  return 'atLeast' in bound ? ratio / bound.atLeast : bound.atMost / ratio;
}

function lineOf({ ours, against, ratio, bound, isMet }: Comparison): object {
  return {
    ours: rounded(ours.median),
    against: rounded(against.median),
    unit: ours.unit,
    ratio: rounded(ratio),
    ...(bound && {
      target: 'atLeast' in bound ? bound.atLeast : bound.atMost,
      is: 'atLeast' in bound ? 'at least' : 'at most',
      met: isMet,
    }),
  };
}

function rounded(value: number): number {
  return Number(value.toPrecision(4));
}
