import type { Bound, Figure } from '../measure/comparison.js';
import { readable } from '../measure/progress.js';
import type { Target, TargetResult } from '../targets/target.js';

/** A target's result for people, a line for each comparison. */
export function toText({ id, title }: Target, { comparisons, notes = [] }: TargetResult): string {
  const lines = comparisons.map(
    ({ name, ours, against, ratio, bound, isMet }) =>
      `  ${name}: ${spread(ours)} against ${spread(against)} = ${ratio.toFixed(2)}${verdict(bound, isMet)}`,
  );
  return [`${id} ${title}`, ...lines, ...notes.map((note) => `  ${note}`)].join('\n');
}

export function spread({ side, unit, median, min, max }: Figure): string {
  return `${side} ${readable(median)} ${unit} (${readable(min)} to ${readable(max)})`;
}

function verdict(bound: Bound | undefined, isMet: boolean): string {
  if (bound === undefined) return '';
  const wanted = 'atLeast' in bound ? `at least ${bound.atLeast}` : `at most ${bound.atMost}`;
  return `, ${wanted}: ${isMet ? 'met' : 'NOT MET'}`;
}
