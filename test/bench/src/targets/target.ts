import type { BenchServer } from '../measure/bench-server.js';
import type { Comparison } from '../measure/comparison.js';
import type { Progress } from '../measure/progress.js';

/** What a target is given to run with. */
export interface Bench {
  readonly server: BenchServer;
  readonly progress: Progress;
  /** Measured rounds of each side; at least five, one in a quick run. */
  readonly repeats: number;
  /** A quick run shows that everything works; its figures mean nothing. */
  readonly isQuick: boolean;
  /** Picks the size of a workload. */
  size(full: number, quick: number): number;
}

/** Points of a curve or bars of a chart that the report draws. */
export interface Plot {
  readonly title: string;
  readonly kind: 'lines' | 'bars';
  readonly xLabel: string;
  readonly yLabel: string;
  /** Scale of the x axis; `log` for sizes that grow by factors. */
  readonly xScale?: 'linear' | 'log';
  /** Scale of the y axis; `log` when the values differ by factors of ten and more. */
  readonly yScale?: 'linear' | 'log';
  readonly series: readonly {
    readonly name: string;
    readonly points: readonly (readonly [x: number | string, y: number])[];
  }[];
}

/** Figures that are no comparison of two sides. */
export interface Table {
  readonly title: string;
  readonly columns: readonly string[];
  /** As many cells as there are columns; numbers are written with three significant digits. */
  readonly rows: readonly (readonly (string | number)[])[];
}

export interface TargetResult {
  readonly comparisons: readonly Comparison[];
  readonly tables?: readonly Table[];
  readonly plots?: readonly Plot[];
  /** Facts beside the ratios, a line each. */
  readonly notes?: readonly string[];
}

/** One of the project's performance targets, with how it is measured. */
export interface Target {
  readonly id: `P${number}` | 'SOAK';
  /** What is promised, in one sentence. */
  readonly title: string;
  run(bench: Bench): Promise<TargetResult>;
}
