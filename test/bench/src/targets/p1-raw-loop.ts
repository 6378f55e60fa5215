import type { BenchDatabase } from '../measure/bench-server.js';
import { type Comparison, compare, type Figure } from '../measure/comparison.js';
import { interleave } from '../measure/interleave.js';
import { fillBacklog } from '../sides/backlog.js';
import { drainByBareLoop, fillBareLoop } from '../sides/bare-loop.js';
import { startDrainingLibrary } from '../sides/draining-library.js';
import { drainByRawLoop } from '../sides/raw-loop.js';
import type { Bench, Plot, Target, TargetResult } from './target.js';

const WORKERS = [1, 4];
const BATCH_SIZES = [10, 100, 500, 1000];

interface Cell {
  readonly workers: number;
  readonly batchSize: number;
}

type Figures = Readonly<Record<'dispatcher' | 'rawLoop' | 'bareLoop', Figure>>;

/**
 * What Node adds to the statements: reading envelopes, deciding outcomes, keeping leases, the loop itself. The bare loop
 * beside them says what this machine can do at all.
 */
export const rawLoop: Target = {
  id: 'P1',
  title: 'the dispatcher costs little beside its own statements',
  async run(bench: Bench): Promise<TargetResult> {
    const measured: (Cell & { figures: Figures })[] = [];
    for (const workers of WORKERS) {
      for (const batchSize of BATCH_SIZES)
        measured.push({ workers, batchSize, figures: await measure(bench, { workers, batchSize }) });
    }
    return {
      comparisons: measured.flatMap(({ figures, ...cell }) => comparisonsOf(cell, figures)),
      plots: WORKERS.map((workers) => plotOf(workers, measured)),
    };
  },
};

function measure({ server, progress, repeats, size }: Bench, { workers, batchSize }: Cell): Promise<Figures> {
  return server.withDatabase(async (database: BenchDatabase) => {
    const library = await startDrainingLibrary(database, { batchSize, batchesInFlight: workers });
    const events = batchSize < 100 ? size(10_000, 500) : size(50_000, 2000);
    const prepare = (): Promise<void> => fillBacklog(database, { events });
    progress.step(`batch ${batchSize}, ${workers} workers`);
    const figures = await interleave(
      {
        dispatcher: { name: 'dispatcher', prepare, measure: () => library.drain(events) },
        rawLoop: { name: 'raw loop', prepare, measure: () => drainByRawLoop(database, { batchSize, workers }) },
        bareLoop: {
          name: 'bare loop',
          prepare: () => fillBareLoop(database, events),
          measure: () => drainByBareLoop(database, { batchSize, workers }),
        },
      },
      { repeats, unit: 'events/s', progress },
    );
    await library.close();
    return figures;
  });
}

/** Bounds are for the batch sizes that the documentation recommends; the ends of the scale are for information. */
function comparisonsOf({ workers, batchSize }: Cell, { dispatcher, rawLoop, bareLoop }: Figures): Comparison[] {
  const name = `batch ${batchSize}, ${workers} workers`;
  const bound = batchSize === 100 || batchSize === 500 ? { atLeast: 0.8 } : undefined;
  return [
    compare(name, dispatcher, rawLoop, bound),
    compare(`${name}, of the bare limit`, dispatcher, bareLoop, undefined),
  ];
}

function plotOf(workers: number, measured: readonly (Cell & { figures: Figures })[]): Plot {
  const cells = measured.filter((cell) => cell.workers === workers);
  const series = (name: string, side: keyof Figures) => ({
    name,
    points: cells.map(({ batchSize, figures }) => [batchSize, figures[side].median] as const),
  });
  return {
    title: `Throughput by batch size, ${workers} ${workers === 1 ? 'worker' : 'workers'}`,
    kind: 'lines',
    xLabel: 'batch size',
    yLabel: 'events/s',
    xScale: 'log',
    series: [series('dispatcher', 'dispatcher'), series('raw loop', 'rawLoop'), series('bare loop', 'bareLoop')],
  };
}
