import type { BenchDatabase } from '../measure/bench-server.js';
import { type Comparison, compare, type Figure, figure } from '../measure/comparison.js';
import { interleave, type Side } from '../measure/interleave.js';
import { median } from '../measure/statistics.js';
import { addBacklog, fillBacklog, lookAtTables } from '../sides/backlog.js';
import { startDrainingLibrary } from '../sides/draining-library.js';
import { addDelayed, addFinished } from '../sides/laid-by.js';
import { PaceTransport } from '../sides/pace-transport.js';
import { withPinnedXmin } from '../sides/pinned-xmin.js';
import type { Bench, Target, TargetResult } from './target.js';

/** In how many parts of the backlog the pace is taken. */
const TENTHS = 10;
const AGGREGATES = 1000;

/** Undefined for unordered events. */
type Aggregates = { readonly aggregates?: number };

/**
 * What lies around must not slow down what is due. Unordered events have the bounds; ordered ones, of 1,000 aggregates,
 * are shown for information.
 */
export const flat: Target = {
  id: 'P3',
  title: 'as fast at the end of a long backlog, under a long transaction, and beside much that is finished or delayed',
  async run(bench: Bench): Promise<TargetResult> {
    const unordered = await along(bench, {});
    const ordered = await along(bench, { aggregates: AGGREGATES });
    return {
      comparisons: [
        compare('last tenth of a million', unordered.last, unordered.first, { atLeast: 0.85 }),
        await underPinnedXmin(bench, 'pinned xmin', {}, 0.8),
        await besideFinished(bench, 'behind a million finished', {}, 0.8),
        await besideDelayed(bench, 'behind 100,000 delayed', {}, 0.9),
        compare('ordered: last tenth of a million', ordered.last, ordered.first, undefined),
        await underPinnedXmin(bench, 'ordered: pinned xmin', { aggregates: AGGREGATES }),
        await besideFinished(bench, 'ordered: behind a million finished', { aggregates: AGGREGATES }),
        await besideDelayed(bench, 'ordered: behind 100,000 delayed', { aggregates: AGGREGATES }),
      ],
      plots: [
        {
          title: 'Throughput along a backlog of a million events',
          kind: 'lines',
          xLabel: 'events delivered, %',
          yLabel: 'events/s',
          series: [
            { name: 'unordered', points: unordered.points },
            { name: 'ordered, 1,000 aggregates', points: ordered.points },
          ],
        },
      ],
    };
  },
};

/** The two sides are the two ends of each drain. */
async function along({ server, progress, repeats, size }: Bench, { aggregates }: Aggregates) {
  return await server.withDatabase(async (database) => {
    const transport = new PaceTransport();
    const library = await startDrainingLibrary(database, {}, transport);
    const events = size(1_000_000, 10_000);
    const rounds: number[][] = [];
    for (let round = 0; round <= repeats; round += 1) {
      const isWarmUp = round === 0;
      const drained = isWarmUp ? events / 10 : events;
      await fillBacklog(database, { events: drained, aggregates });
      transport.begin();
      const perSecond = await library.drain(drained);
      progress.sample('a whole backlog', round, repeats, perSecond, 'events/s');
      if (!isWarmUp) rounds.push(transport.paceOf(TENTHS));
    }
    await library.close();
    const tenth = (index: number): number[] => rounds.map((paces) => paces[index] ?? Number.NaN);
    return {
      first: figure('first tenth', 'events/s', tenth(0)),
      last: figure('last tenth', 'events/s', tenth(TENTHS - 1)),
      points: Array.from({ length: TENTHS }, (_, index) => [(index + 0.5) * TENTHS, median(tenth(index))] as const),
    };
  });
}

async function underPinnedXmin(bench: Bench, name: string, { aggregates }: Aggregates, bound?: number) {
  const { server, progress, repeats, size } = bench;
  return await server.withDatabase(async (database) => {
    const library = await startDrainingLibrary(database);
    const events = size(100_000, 1000);
    const prepare = (): Promise<void> => fillBacklog(database, { events, aggregates });
    const figures = await interleave(
      {
        ours: { name, prepare, measure: () => withPinnedXmin(database, () => library.drain(events)) },
        against: { name: 'nobody looks', prepare, measure: () => library.drain(events) },
      },
      { repeats, unit: 'events/s', progress },
    );
    await library.close();
    return bounded(name, figures, bound);
  });
}

function besideFinished(bench: Bench, name: string, { aggregates }: Aggregates, bound?: number): Promise<Comparison> {
  const events = bench.size(1_000_000, 10_000);
  return beside(bench, { name, without: 'an empty log', aggregates, bound }, (database) =>
    addFinished(database, { events, aggregates }),
  );
}

function besideDelayed(bench: Bench, name: string, { aggregates }: Aggregates, bound?: number): Promise<Comparison> {
  const events = bench.size(100_000, 1000);
  return beside(bench, { name, without: 'nothing delayed', aggregates, bound }, (database) =>
    addDelayed(database, { events, aggregates }),
  );
}

/** The sides have a database each, so that what lies there is written once: rounds only add what is due. */
async function beside(
  { server, progress, repeats, size }: Bench,
  { name, without, aggregates, bound }: Aggregates & { name: string; without: string; bound?: number },
  lay: (database: BenchDatabase) => Promise<void>,
): Promise<Comparison> {
  const events = size(20_000, 500);
  const sideIn = async (database: BenchDatabase, side: string): Promise<Side & { close(): Promise<void> }> => {
    const library = await startDrainingLibrary(database);
    return {
      name: side,
      async prepare() {
        await addBacklog(database, { events, aggregates });
        await lookAtTables(database);
      },
      measure: () => library.drain(events),
      close: () => library.close(),
    };
  };
  return await server.withDatabase(
    async (full) =>
      await server.withDatabase(async (empty) => {
        const ours = await sideIn(full, name);
        const against = await sideIn(empty, without);
        await lay(full);
        const figures = await interleave({ ours, against }, { repeats, unit: 'events/s', progress });
        for (const side of [ours, against]) await side.close();
        return bounded(name, figures, bound);
      }),
  );
}

function bounded(name: string, { ours, against }: Record<'ours' | 'against', Figure>, bound?: number): Comparison {
  return compare(name, ours, against, bound === undefined ? undefined : { atLeast: bound });
}
