import { median } from './statistics.js';

/** One side of a comparison: what was measured in each round, in the order of the rounds. */
export interface Figure {
  readonly side: string;
  readonly unit: string;
  readonly samples: readonly number[];
  readonly median: number;
  readonly min: number;
  readonly max: number;
}

/** What a target asks of the ratio `ours / against`. */
export type Bound = { readonly atLeast: number } | { readonly atMost: number };

/** Two sides that were measured turn by turn in one run on one server. */
export interface Comparison {
  /** Short and unique within the target, for example `pg-boss` or `batch 500, 4 workers`. */
  readonly name: string;
  readonly ours: Figure;
  readonly against: Figure;
  /** Median of the rounds' ratios, so that a slow drift of the machine cancels out. */
  readonly ratio: number;
  /** Undefined for what is shown for information. */
  readonly bound: Bound | undefined;
  /** True without a bound. */
  readonly isMet: boolean;
}

export function figure(side: string, unit: string, samples: readonly number[]): Figure {
  return { side, unit, samples, median: median(samples), min: Math.min(...samples), max: Math.max(...samples) };
}

/** @throws Error when the two sides were not measured equally often. */
export function compare(name: string, ours: Figure, against: Figure, bound: Bound | undefined): Comparison {
  if (ours.samples.length !== against.samples.length) throw new Error(`${name}: the sides have unequal rounds`);
  const ratio = median(ours.samples.map((sample, round) => sample / (against.samples[round] ?? Number.NaN)));
  return { name, ours, against, ratio, bound, isMet: meets(ratio, bound) };
}

function meets(ratio: number, bound: Bound | undefined): boolean {
  if (bound === undefined) return true;
  return 'atLeast' in bound ? ratio >= bound.atLeast : ratio <= bound.atMost;
}
