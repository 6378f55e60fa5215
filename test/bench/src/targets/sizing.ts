import { interleave, type Side } from '../measure/interleave.js';
import { median } from '../measure/statistics.js';
import { measureConnections, measureDatabaseCost, measureStatements } from '../sizing/database-cost.js';
import { SIZES, type Size } from '../sizing/payloads.js';
import { startSizingApp } from '../sizing/sizing-app.js';
import { type DrainSide, drainSide, emitSide } from '../sizing/throughput.js';
import type { Bench, Plot, Table, Target, TargetResult } from './target.js';

const BATCHES = [10, 100, 500] as const;
const DESTINATIONS = ['first', 'second', 'third', 'fourth'] as const;
const [SMALL] = SIZES;

/** The tables that the sizing guide quotes; it names them by their titles. */
export const sizing: Target = {
  id: 'P15',
  title: 'what an event costs, by payload size, batch and destinations (for information)',
  async run(bench: Bench): Promise<TargetResult> {
    const costs = await measureCosts(bench);
    const bySize = await measureSizes(bench);
    const byDestinations = await measureDestinations(bench);
    const processes = await measureProcess(bench);
    return {
      comparisons: [],
      tables: [bySize.table, byDestinations, costs, processes],
      plots: [bySize.plot],
      notes: [
        'One process with one dispatcher at default settings but for the batch size, and a destination that does nothing. Emitting: 8 writers of one process, one event per transaction.',
        'Write-ahead log without the images of whole pages that follow a checkpoint; payloads that cannot be compressed.',
      ],
    };
  },
};

async function measureCosts({ server, size: pick, progress }: Bench): Promise<Table> {
  const rows: (string | number)[][] = [];
  for (const size of SIZES) {
    const { emitWal, claimWal, finalizeWal, deadRows } = await measureDatabaseCost(server, size, pick(1000, 50));
    progress.step(`  cost of ${size.name}: ${[emitWal, claimWal, finalizeWal].map(Math.round).join(', ')} bytes`);
    rows.push([size.name, emitWal, claimWal, finalizeWal, deadRows]);
  }
  const wal = (step: string): string => `${step}, bytes of write-ahead log`;
  const columns = ['payload', wal('emit'), wal('claim'), wal('finalize'), 'dead rows'];
  return { title: 'What one event for one destination costs the database', columns, rows };
}

async function measureSizes(bench: Bench): Promise<{ readonly table: Table; readonly plot: Plot }> {
  const { server } = bench;
  const emitted = await server.withDatabase(async (database) => {
    const app = await startSizingApp(database);
    const sides = SIZES.map((size) => emitSide(database, app, size, bench.size(eventsOf(size) / 5, 50)));
    const rates = await ratesOf(sides, bench);
    await app.close();
    return rates;
  });
  const dispatched = await server.withDatabase(async (database) => {
    const combinations = BATCHES.flatMap((batchSize) => SIZES.map((size) => ({ batchSize, size })));
    const sides = combinations.map(({ batchSize, size }) => {
      const events = bench.size(batchSize < 100 ? eventsOf(size) / 5 : eventsOf(size), 100);
      return drainSide(database, {
        name: `${size.name}, batch ${batchSize}`,
        size,
        events,
        batchSize,
        destinations: ['first'],
      });
    });
    const rates = await ratesOf(sides, bench);
    return combinations.map((combination, index) => ({
      ...combination,
      rate: rates[index] ?? Number.NaN,
      cpuMs: cpuOf(sides[index]),
    }));
  });
  const find = (size: Size, batchSize: number) =>
    dispatched.find((row) => row.size === size && row.batchSize === batchSize);
  const rows = SIZES.map((size, index) => [
    size.name,
    emitted[index] ?? Number.NaN,
    ...BATCHES.map((batchSize) => find(size, batchSize)?.rate ?? Number.NaN),
    find(size, 100)?.cpuMs ?? Number.NaN,
  ]);
  const ofBatches = BATCHES.map((batchSize) => `dispatched, batch ${batchSize}`);
  return {
    table: {
      title: 'Events per second by payload size',
      columns: ['payload', 'emitted', ...ofBatches, 'ms of Node for 1,000 events, batch 100'],
      rows,
    },
    plot: {
      title: 'Events dispatched per second by payload size',
      kind: 'lines',
      xLabel: 'payload, bytes of JSON',
      yLabel: 'events per second',
      xScale: 'log',
      yScale: 'log',
      series: BATCHES.map((batchSize) => ({
        name: `batch ${batchSize}`,
        points: SIZES.map((size) => [size.bytes, find(size, batchSize)?.rate ?? Number.NaN] as const),
      })),
    },
  };
}

async function measureDestinations(bench: Bench): Promise<Table> {
  return bench.server.withDatabase(async (database) => {
    const counts = [1, 2, 4];
    const sides = counts.map((count) =>
      drainSide(database, {
        name: `${count} destinations`,
        size: SMALL,
        events: bench.size(20_000, 100),
        batchSize: 100,
        destinations: DESTINATIONS.slice(0, count),
      }),
    );
    const rates = await ratesOf(sides, bench);
    return {
      title: 'Deliveries per second by number of destinations',
      columns: ['destinations', 'deliveries per second', 'events per second', 'ms of Node for 1,000 deliveries'],
      rows: counts.map((count, index) => {
        const rate = rates[index] ?? Number.NaN;
        return [count, rate, rate / count, cpuOf(sides[index])];
      }),
    };
  });
}

async function measureProcess({ server }: Bench): Promise<Table> {
  const { emitting, dispatching } = await measureConnections(server, SMALL);
  const statements = await measureStatements(server, SMALL, 100);
  return {
    title: 'What a process takes of the database at default settings',
    columns: ['what', 'how many'],
    rows: [
      ['connections of a process that only emits', emitting],
      ['connections of a process that emits and dispatches', dispatching],
      ['statements for a batch', statements],
    ],
  };
}

/** Median of each side, in their order. */
async function ratesOf(sides: readonly Side[], { repeats, progress }: Bench): Promise<readonly number[]> {
  const named = Object.fromEntries(sides.map((side, index) => [`side ${index}`, side]));
  const figures = await interleave(named, { repeats, progress, unit: 'events/s' });
  return sides.map((_, index) => figures[`side ${index}`]?.median ?? Number.NaN);
}

function cpuOf(side: DrainSide | undefined): number {
  return side === undefined || side.cpuMs.length === 0 ? Number.NaN : median(side.cpuMs);
}

/** So many that a round takes about a second, whatever their size. */
function eventsOf({ bytes }: Size): number {
  return Math.round(Math.min(20_000, 100_000_000 / bytes));
}
