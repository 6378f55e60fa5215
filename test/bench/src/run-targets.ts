import type { TargetOutcome } from './report/json-line.js';
import type { ResultsFile, RunDescription } from './report/results-file.js';
import { toText } from './report/text.js';
import type { Bench, Target } from './targets/target.js';

/**
 * Measures one target after the other. One that fails does not cost the others their hour; what is done is written
 * down at once.
 *
 * @param signal aborted when the server is being taken down.
 */
export async function runTargets(
  targets: readonly Target[],
  bench: Bench,
  run: RunDescription,
  file: ResultsFile | undefined,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, TargetOutcome>> {
  const outcomes = new Map<string, TargetOutcome>();
  for (const target of targets) {
    bench.progress.step(`${target.id} ${target.title}`);
    const startedAt = performance.now();
    try {
      const result = await target.run(bench);
      outcomes.set(target.id, result);
      process.stdout.write(`${toText(target, result)}\n`);
      const seconds = Math.round((performance.now() - startedAt) / 1000);
      await file?.add(target.id, { title: target.title, seconds, run, ...result });
    } catch (error) {
      if (signal.aborted) break; // its database was taken away
      outcomes.set(target.id, { failure: error instanceof Error ? error.message : String(error) });
      process.stderr.write(`${target.id} could not be measured: ${describe(error)}\n`);
    }
  }
  return outcomes;
}

function describe(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
