import type { PlantedBug } from './planted-bugs.js';
import { type RunResult, simulate } from './simulation.js';

const { SIMULATION_SEED, SIMULATION_FIRST = '1', SIMULATION_RUNS = '200' } = process.env;

export const isReplay = SIMULATION_SEED !== undefined;

/** `SIMULATION_RUNS=20000` makes more runs, `SIMULATION_FIRST=5001` others, `SIMULATION_SEED=17` that one only. */
export const seeds: readonly number[] = isReplay
  ? [Number(SIMULATION_SEED)]
  : Array.from({ length: Number(SIMULATION_RUNS) }, (_, index) => Number(SIMULATION_FIRST) + index);

/** A planted bug may need a rare coincidence; most are found within a few runs. */
const RUNS_FOR_A_BUG = 5 * seeds.length;

/** The first run that violates something; undefined when none does. */
export async function findViolation(bug: PlantedBug): Promise<RunResult | undefined> {
  const takeOut = bug.inDispatcher?.();
  try {
    for (let seed = Number(SIMULATION_FIRST); seed < Number(SIMULATION_FIRST) + RUNS_FOR_A_BUG; seed += 1) {
      const result = await simulate(seed, bug.inStore);
      if (result.violations.length > 0) return result;
    }
    return undefined;
  } finally {
    takeOut?.();
  }
}

/** What a person needs to see what happened and to see it again. */
export function describeRun({ seed, violations, trace }: RunResult): string {
  return [
    `The run with seed ${seed} violates:`,
    ...violations.map((problem) => `  ${problem}`),
    'Replay it with:',
    `  SIMULATION_SEED=${seed} npx vitest run test/simulation`,
    'What happened:',
    ...trace.map((line) => `  ${line}`),
  ].join('\n');
}
