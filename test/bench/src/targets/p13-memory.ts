import type { BenchDatabase } from '../measure/bench-server.js';
import { startProcess } from '../measure/child-process.js';
import { type Comparison, compare, figure } from '../measure/comparison.js';
import type { MemoryReport } from '../processes/drain-and-watch.js';
import { expectDrained, fillBacklog } from '../sides/backlog.js';
import { CountingTransport } from '../sides/counting-transport.js';
import { fillLargePayloads } from '../sides/large-payloads.js';
import { startLibrary } from '../sides/library.js';
import type { Bench, Target, TargetResult } from './target.js';

const MIB = 1_048_576;

/** The bound of docs/operations/memory.md, with the defaults of a destination. */
const DISPATCHER_MIB = 128;
const FACTOR = 6;
const BATCHES_IN_FLIGHT = 2;
const BATCH_SIZE = 100;
const BATCH_BYTES = 16 * MIB;

interface Backlog {
  readonly name: string;
  readonly events: number;
  /** @returns size of the largest payload in bytes. */
  fill(database: BenchDatabase): Promise<number>;
}

/** Memory must depend on the settings, not on how much waits. */
export const memory: Target = {
  id: 'P13',
  title: 'memory stays within a documented bound',
  async run(bench: Bench): Promise<TargetResult> {
    const many = bench.size(1_000_000, 20_000);
    const large = bench.size(200, 20);
    const backlogs: Backlog[] = [
      {
        name: `backlog of ${many} events`,
        events: many,
        fill: async (database) => {
          await fillBacklog(database, { events: many });
          return 300;
        },
      },
      {
        name: `${large} events of 5 MB`,
        events: large,
        fill: (database) => fillLargePayloads(database, { events: large, payloadBytes: 5_000_000 }),
      },
    ];
    const comparisons: Comparison[] = [];
    const notes: string[] = [];
    for (const backlog of backlogs) {
      const { reports, boundMib } = await measure(backlog, bench);
      const growths = reports.map(({ restRss, peakRss }) => mib(peakRss - restRss));
      const bound = figure(
        'documented bound',
        'MiB',
        growths.map(() => boundMib),
      );
      comparisons.push(compare(backlog.name, figure('growth of the process', 'MiB', growths), bound, { atMost: 1 }));
      const peakRss = Math.max(...reports.map((report) => mib(report.peakRss)));
      const peakHeap = Math.max(...reports.map((report) => mib(report.peakHeapUsed)));
      notes.push(`${backlog.name}: at most ${peakRss} MiB resident in all, ${peakHeap} MiB of them used heap.`);
    }
    return { comparisons, notes };
  },
};

async function measure(backlog: Backlog, { server, repeats, progress }: Bench) {
  const reports: MemoryReport[] = [];
  let largestBytes = 0;
  for (let round = 1; round <= repeats; round += 1) {
    await server.withDatabase(async (database) => {
      await makeTables(database);
      largestBytes = await backlog.fill(database);
      const child = startProcess('drain-and-watch', [database.url, String(backlog.events)]);
      try {
        // The program sends nothing else.
        reports.push((await child.next()) as MemoryReport);
      } finally {
        await child.stop();
      }
      await expectDrained(database);
    });
    const { restRss, peakRss } = reports.at(-1) ?? { restRss: 0, peakRss: 0 };
    progress.sample('growth of the process', round, repeats, mib(peakRss - restRss), 'MiB');
  }
  return { reports, boundMib: boundMib(largestBytes) };
}

/** A start with `migrate: 'auto'` makes them. */
async function makeTables(database: BenchDatabase): Promise<void> {
  const library = await startLibrary(database, { destination: { transport: new CountingTransport() } });
  await library.close();
}

/** One kind of events, because the backlogs are unordered; each batch in flight twice, while it is followed by the next. */
function boundMib(largestBytes: number): number {
  const batchBytes = Math.min(BATCH_BYTES + largestBytes, BATCH_SIZE * largestBytes);
  return DISPATCHER_MIB + mib(2 * BATCHES_IN_FLIGHT * batchBytes * FACTOR);
}

function mib(bytes: number): number {
  return Math.round(bytes / MIB);
}
