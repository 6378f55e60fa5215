import { type Figure, figure } from './comparison.js';
import type { Progress } from './progress.js';

/** Something that can be measured again and again. */
export interface Side {
  readonly name: string;
  /** Puts everything into the state that each measurement starts from. Not timed. */
  prepare?(): Promise<void>;
  /** One measurement; answers its figure. */
  measure(): Promise<number>;
}

/**
 * Measures all sides turn by turn, so that whatever else the machine does meets each of them alike: one unmeasured
 * warm-up of each, then `repeats` rounds, every second one in the opposite order.
 */
export async function interleave<Name extends string>(
  sides: Readonly<Record<Name, Side>>,
  options: { readonly repeats: number; readonly unit: string; readonly progress: Progress; readonly warmUp?: boolean },
): Promise<Readonly<Record<Name, Figure>>> {
  const names = Object.keys(sides) as Name[];
  const samples = new Map<Name, number[]>(names.map((name) => [name, []]));
  for (let round = options.warmUp === false ? 1 : 0; round <= options.repeats; round += 1) {
    for (const name of round % 2 === 0 ? names : names.toReversed()) {
      const side = sides[name];
      await side.prepare?.();
      global.gc?.();
      const sample = await side.measure();
      options.progress.sample(side.name, round, options.repeats, sample, options.unit);
      if (round > 0) samples.get(name)?.push(sample);
    }
  }
  const figures = names.map((name) => [name, figure(sides[name].name, options.unit, samples.get(name) ?? [])] as const);
  return Object.fromEntries(figures) as Record<Name, Figure>;
}
