import type { BenchDatabase } from '../measure/bench-server.js';
import { type Comparison, compare, type Figure, figure } from '../measure/comparison.js';
import { interleave, type Side } from '../measure/interleave.js';
import { drainTogether, type PublishedSlice } from '../scale/drain-together.js';
import { progressOf, sharesOf, widestGap } from '../scale/fairness.js';
import { measureIdle } from '../scale/idle-load.js';
import { ScaleProcess } from '../scale/scale-process.js';
import { LEASE_MS, measureTakeover, POLL_INTERVAL_MS } from '../scale/takeover.js';
import { DESTINATIONS, type EventKind, fillTwoDestinations } from '../scale/two-destinations.js';
import { expectDrained } from '../sides/backlog.js';
import type { Bench, Plot, Table, Target, TargetResult } from './target.js';

const COUNTS = [1, 2, 4, 8] as const;
const KINDS: readonly EventKind[] = ['unordered', 'ordered'];
/** Processes whose shares are looked at. */
const SHARING = 4;

interface Sharing {
  readonly slices: readonly PublishedSlice[];
  /** Of each lane, what was still to do when half of everything was done; in percent of the lane's backlog. */
  readonly leftInLanes: readonly number[];
}

/** What more dispatcher processes on one database bring, how they share the work, and what one costs that does nothing. */
export const scaleOut: Target = {
  id: 'P14',
  title: 'several dispatcher processes on one database (for information)',
  async run(bench: Bench): Promise<TargetResult> {
    const together = await bench.server.withDatabase((database) => measureTogether(bench, database));
    const takeover = await bench.server.withDatabase((database) => measureTakeovers(bench, database));
    const idle = await measureIdleProcesses(bench);
    return {
      comparisons: [...together.comparisons, takeover],
      tables: [...(together.tables ?? []), idle],
      plots: together.plots,
      notes: [
        'A backlog for two destinations is worked off by processes that start at the same moment; all of them, the load and the server share the cores named below.',
        `A process that holds leases of ${LEASE_MS / 1000} s is killed (SIGKILL) while another one is idle: what the dead one held is published when its leases have ended and the other looks again; it polls every ${POLL_INTERVAL_MS} ms here, and every few seconds by default.`,
      ],
    };
  },
};

async function measureTogether(bench: Bench, database: BenchDatabase): Promise<TargetResult> {
  const events = bench.size(30_000, 1000);
  const processes: ScaleProcess[] = [];
  try {
    for (let index = 1; index <= Math.max(...COUNTS); index += 1) {
      const settings = { databaseUrl: database.url, instanceName: `process ${index}`, mode: 'driven' } as const;
      processes.push(await ScaleProcess.start(settings));
    }
    const comparisons: Comparison[] = [];
    const figures = new Map<EventKind, readonly Figure[]>();
    const sharing = new Map<EventKind, Sharing>();
    for (const kind of KINDS) {
      const sides = COUNTS.map((count) => [`${count}`, sideOf(database, processes.slice(0, count), events, kind)]);
      const measured = await interleave(Object.fromEntries(sides) as Record<string, Side>, {
        ...bench,
        unit: 'events/s',
      });
      const ofCounts = COUNTS.map((count) => measured[`${count}`] ?? figure('none', 'events/s', []));
      figures.set(kind, ofCounts);
      const [one, ...more] = ofCounts;
      if (one !== undefined)
        for (const many of more) comparisons.push(compare(`${kind}, ${many.side}`, many, one, undefined));
      sharing.set(kind, await measureSharing(database, processes.slice(0, SHARING), events, kind));
    }
    return { comparisons, tables: [sharingTable(sharing)], plots: plotsOf(figures, sharing) };
  } finally {
    await Promise.all(processes.map((process) => process.kill()));
  }
}

function sideOf(database: BenchDatabase, processes: readonly ScaleProcess[], events: number, kind: EventKind): Side {
  return {
    name: processes.length === 1 ? '1 process' : `${processes.length} processes`,
    prepare: () => fillTwoDestinations(database, events, kind),
    async measure() {
      const { perSecond } = await drainTogether(processes, events * DESTINATIONS.length);
      await expectDrained(database);
      return perSecond;
    },
  };
}

async function measureSharing(
  database: BenchDatabase,
  processes: readonly ScaleProcess[],
  events: number,
  kind: EventKind,
): Promise<Sharing> {
  await fillTwoDestinations(database, events, kind);
  const countLanes = (): Promise<{ lane: string; count: string }[]> =>
    database.query(
      `select destination || lane as lane, count(*) from outbox_delivery where lane is not null group by 1`,
    );
  const all = await countLanes();
  let left: { lane: string; count: string }[] = [];
  const { slices } = await drainTogether(processes, events * DESTINATIONS.length, async () => {
    left = await countLanes();
  });
  const leftByLane = new Map(left.map(({ lane, count }) => [lane, Number(count)]));
  return { slices, leftInLanes: all.map(({ lane, count }) => (100 * (leftByLane.get(lane) ?? 0)) / Number(count)) };
}

async function measureTakeovers({ repeats, progress }: Bench, database: BenchDatabase): Promise<Comparison> {
  const samples: number[] = [];
  const migrator = await ScaleProcess.start({ databaseUrl: database.url, instanceName: 'migrator', mode: 'driven' });
  await migrator.kill();
  for (let round = 1; round <= repeats; round += 1) {
    samples.push(await measureTakeover(database));
    progress.sample('takeover after a kill', round, repeats, samples.at(-1) ?? Number.NaN, 'ms');
  }
  const lease = figure(
    'lease',
    'ms',
    samples.map(() => LEASE_MS),
  );
  return compare('takeover after a kill', figure('takeover', 'ms', samples), lease, undefined);
}

async function measureIdleProcesses(bench: Bench): Promise<Table> {
  const rows: number[][] = [];
  for (const processes of [1, 4]) {
    const { transactions, connections } = await bench.server.withDatabase((database) =>
      measureIdle(database, { processes, ms: bench.size(30_000, 2000) }),
    );
    rows.push([processes, transactions, connections]);
  }
  const columns = ['processes', 'transactions per second and process', 'connections per process'];
  return { title: 'Processes that have nothing to do', columns, rows };
}

function sharingTable(sharing: ReadonlyMap<EventKind, Sharing>): Table {
  const percent = (value: number): string => (Number.isFinite(value) ? `${value.toFixed(0)} %` : '');
  const rows = [...sharing].map(([kind, { slices, leftInLanes }]) => {
    const shares = [...sharesOf(slices, 'process').values()];
    return [
      kind,
      `${percent(Math.min(...shares))} to ${percent(Math.max(...shares))}`,
      percent(widestGap(slices, DESTINATIONS)),
      leftInLanes.length === 0 ? '' : `${percent(Math.min(...leftInLanes))} to ${percent(Math.max(...leftInLanes))}`,
    ];
  });
  return {
    title: `How ${SHARING} processes share two equal backlogs`,
    columns: ['events', 'share of a process', 'widest gap between the destinations', 'left in a lane at half time'],
    rows,
  };
}

function plotsOf(
  figures: ReadonlyMap<EventKind, readonly Figure[]>,
  sharing: ReadonlyMap<EventKind, Sharing>,
): readonly Plot[] {
  return [
    {
      title: 'Deliveries per second by number of dispatcher processes',
      kind: 'bars',
      xLabel: 'processes',
      yLabel: 'deliveries per second, all processes',
      series: [...figures].map(([kind, ofCounts]) => ({
        name: kind,
        points: ofCounts.map(({ median }, index) => [String(COUNTS[index]), median] as const),
      })),
    },
    {
      title: `Two equal backlogs, ${SHARING} processes: how far each destination had come`,
      kind: 'lines',
      xLabel: 'seconds',
      yLabel: 'thousand events published',
      series: [...sharing].flatMap(([kind, { slices }]) =>
        DESTINATIONS.map((name) => ({ name: `${kind}, ${name}`, points: progressOf(slices, name) })),
      ),
    },
    {
      title: `What each of ${SHARING} processes published`,
      kind: 'bars',
      xLabel: 'process',
      yLabel: 'percent of all deliveries',
      series: [...sharing].map(([kind, { slices }]) => ({ name: kind, points: [...sharesOf(slices, 'process')] })),
    },
  ];
}
