import { type Bound, type Comparison, compare, figure } from '../measure/comparison.js';
import { median } from '../measure/statistics.js';
import type { SoakSample } from './sampler.js';
import type { SoakPlan } from './soak-plan.js';

type SampleName = Exclude<keyof SoakSample, 'minute'>;

interface Flatness {
  readonly name: string;
  readonly sample: SampleName;
  readonly unit: string;
  /** What stands for a whole window: what comes and goes by its peak, what is carried by its mean. */
  readonly by: 'median' | 'mean' | 'peak';
  readonly bound: Bound;
}

/** What "flat" means: the last window against the first. */
export const FLATNESS: readonly Flatness[] = [
  { name: 'emitted', sample: 'emittedPerSecond', unit: 'events/s', by: 'mean', bound: { atLeast: 0.97 } },
  { name: 'delivered, healthy', sample: 'steadyPerSecond', unit: 'events/s', by: 'mean', bound: { atLeast: 0.97 } },
  { name: 'delivered, failing', sample: 'shakyPerSecond', unit: 'events/s', by: 'mean', bound: { atLeast: 0.95 } },
  { name: 'COMMIT to publish, median', sample: 'p50Ms', unit: 'ms', by: 'median', bound: { atMost: 1.25 } },
  { name: 'COMMIT to publish, 99 %', sample: 'p99Ms', unit: 'ms', by: 'median', bound: { atMost: 1.5 } },
  { name: 'queue table', sample: 'queueMebibytes', unit: 'MiB', by: 'peak', bound: { atMost: 1.25 } },
  { name: 'event log', sample: 'logMebibytes', unit: 'MiB', by: 'peak', bound: { atMost: 1.25 } },
  { name: 'dead tuples, queue', sample: 'queueDeadTuples', unit: 'rows', by: 'peak', bound: { atMost: 1.5 } },
  { name: 'dead tuples, log', sample: 'logDeadTuples', unit: 'rows', by: 'peak', bound: { atMost: 1.5 } },
  { name: 'resident memory', sample: 'residentMebibytes', unit: 'MiB', by: 'median', bound: { atMost: 1.15 } },
  { name: 'heap in use', sample: 'heapMebibytes', unit: 'MiB', by: 'median', bound: { atMost: 1.1 } },
  { name: 'open handles', sample: 'openHandles', unit: 'handles', by: 'median', bound: { atMost: 1.1 } },
  { name: 'connections', sample: 'connections', unit: 'connections', by: 'peak', bound: { atMost: 1.1 } },
];

/** Compares the last window with the first, figure by figure. */
export function judge(samples: readonly SoakSample[], plan: SoakPlan): readonly Comparison[] {
  const count = Math.max(1, Math.floor(plan.windowMs / plan.sampleMs));
  const first = samples.slice(0, count);
  const last = samples.slice(-count);
  return FLATNESS.map(({ name, sample, unit, by, bound }) =>
    compare(
      name,
      figure('last', unit, [valueIn(last, sample, by)]),
      figure('first', unit, [valueIn(first, sample, by)]),
      bound,
    ),
  );
}

/** Never zero, of which there is no ratio: a table without dead rows is as good as one with a single one. */
function valueIn(window: readonly SoakSample[], name: SampleName, by: Flatness['by']): number {
  const values = window.map((sample) => sample[name]).filter((value) => Number.isFinite(value));
  if (values.length === 0) return Number.NaN;
  const least = name.endsWith('DeadTuples') ? 1 : 0.001;
  if (by === 'median') return Math.max(median(values), least);
  if (by === 'peak') return Math.max(...values, least);
  return Math.max(values.reduce((sum, value) => sum + value, 0) / values.length, least);
}
