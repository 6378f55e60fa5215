import pg from 'pg';
import type { EntityManager } from 'typeorm';
import type { BenchDatabase } from '../measure/bench-server.js';
import { type Comparison, compare, figure } from '../measure/comparison.js';
import { interleave, type Side } from '../measure/interleave.js';
import { atPace, cumulativeShares, latenciesOf, type Moments, monotonicNowMs } from '../measure/latencies.js';
import { percentile } from '../measure/statistics.js';
import { ArrivalTransport } from '../sides/arrival-transport.js';
import { BenchOrderEntity, insertOrder, noted } from '../sides/business.js';
import { startWorkerWithLatency } from '../sides/graphile-worker-latency.js';
import { startIdleInstance } from '../sides/idle-instance.js';
import { type Library, startLibrary } from '../sides/library.js';
import { CHANNEL, notifyInside } from '../sides/notify-floor.js';
import { SecondProcess } from '../sides/second-process.js';
import type { Bench, Plot, Target, TargetResult } from './target.js';

const PER_SECOND = 100;
const NAMES = {
  floorInProcess: 'NOTIFY, same process',
  inProcess: 'dispatcher, same process',
  floorAcross: 'NOTIFY, second process',
  across: 'dispatcher, second process',
  worker: 'graphile-worker, same process',
};
type Name = keyof typeof NAMES;

/** A way from a commit to whoever is told of it. */
interface Path {
  /** The application that writes; all of its transactions insert an order first. */
  readonly writer: Library;
  /** States the fact inside the transaction; answers the id under which it arrives. */
  state(manager: EntityManager, orderId: string, call: number): Promise<string>;
  /** What has arrived since it was asked last. */
  collect(): Promise<Moments>;
}

/** How soon after its commit an event is published, and what a dispatcher costs that has nothing to do. */
export const latency: Target = {
  id: 'P4',
  title: 'an event is published within milliseconds of its commit, and waiting costs next to nothing',
  async run(bench: Bench): Promise<TargetResult> {
    const measured = await measurePaths(bench);
    return {
      comparisons: [...measured.comparisons, await measureIdle(bench)],
      plots: [measured.plot],
      notes: measured.notes,
    };
  },
};

function measurePaths(bench: Bench): Promise<{ comparisons: Comparison[]; plot: Plot; notes: string[] }> {
  const { server, progress, repeats, size } = bench;
  const calls = size(500, 30);
  // Dispatchers must not take each other's events: each has a database of its own.
  return server.withDatabase((near) =>
    server.withDatabase(async (far) => {
      const { paths, close } = await openPaths(near, far);
      const rounds = new Map<Name, number[][]>();
      const sideOf = (name: Name): Side => ({
        name: NAMES[name],
        measure: async () => {
          const latencies = await measurePath(paths[name], calls);
          rounds.set(name, [...(rounds.get(name) ?? []), latencies]);
          return percentile(latencies, 0.5);
        },
      });
      const names = Object.keys(NAMES) as Name[];
      const sides = Object.fromEntries(names.map((name) => [name, sideOf(name)])) as Record<Name, Side>;
      const p50 = await interleave(sides, { repeats, unit: 'ms', progress });
      await close();
      const measuredRounds = (name: Name): number[][] => rounds.get(name)?.slice(1) ?? []; // the first is the warm-up
      const p99 = (name: Name) =>
        figure(
          NAMES[name],
          'ms',
          measuredRounds(name).map((latencies) => percentile(latencies, 0.99)),
        );
      return {
        comparisons: [
          compare('p50, same process', p50.inProcess, p50.floorInProcess, { atMost: 2 }),
          compare('p50, second process', p50.across, p50.floorAcross, { atMost: 2.3 }),
          compare('p50, same process, against graphile-worker', p50.inProcess, p50.worker, { atMost: 1 }),
          compare('p50, second process, against graphile-worker', p50.across, p50.worker, { atMost: 1 }),
          compare('p99, same process', p99('inProcess'), p99('floorInProcess'), undefined),
          compare('p99, second process', p99('across'), p99('floorAcross'), undefined),
          compare('p99, same process, against graphile-worker', p99('inProcess'), p99('worker'), undefined),
        ],
        plot: {
          title: `From the end of the work in a transaction to the publish, ${PER_SECOND} events/s`,
          kind: 'lines',
          xLabel: 'ms',
          xScale: 'log',
          yLabel: 'share of the events',
          series: names.map((name) => ({ name: NAMES[name], points: cumulativeShares(measuredRounds(name).flat()) })),
        },
        notes: [`the clock starts when COMMIT is about to be sent; ${calls} events in each round`],
      };
    }),
  );
}

async function openPaths(
  near: BenchDatabase,
  far: BenchDatabase,
): Promise<{ paths: Record<Name, Path>; close(): Promise<void> }> {
  const transport = new ArrivalTransport();
  const writing = { destination: { transport }, entities: [BenchOrderEntity], poolSize: 2 };
  const dispatching = await startLibrary(near, { ...writing, dispatcher: { schedule: 'loop' } });
  const emitting = await startLibrary(far, { ...writing, dispatcher: { enabled: false } });
  const worker = await startWorkerWithLatency(near);
  const heard: [string, number][] = [];
  const listener = new pg.Client({ connectionString: near.url });
  await listener.connect();
  listener.on('notification', ({ payload = '' }) => heard.push([payload, monotonicNowMs()]));
  await listener.query(`listen ${CHANNEL}`);
  const listening = await SecondProcess.start(far, 'listener');
  const second = await SecondProcess.start(far, 'dispatcher');
  const emit =
    ({ outbox }: Library): Path['state'] =>
    async (manager, orderId, call) => {
      const [id = ''] = await outbox.emit(manager, noted(orderId, call));
      return id;
    };
  const notify: Path['state'] = async (manager, orderId) => {
    await notifyInside(manager, orderId);
    return orderId;
  };
  const add: Path['state'] = async (manager, orderId) => {
    await worker.add(manager, orderId);
    return orderId;
  };
  return {
    paths: {
      floorInProcess: { writer: dispatching, state: notify, collect: async () => heard.splice(0) },
      inProcess: { writer: dispatching, state: emit(dispatching), collect: async () => transport.collect() },
      floorAcross: { writer: emitting, state: notify, collect: () => listening.collect() },
      across: { writer: emitting, state: emit(emitting), collect: () => second.collect() },
      worker: { writer: dispatching, state: add, collect: async () => worker.collect() },
    },
    close: async () => {
      for (const process of [second, listening]) await process.stop();
      await listener.end();
      await worker.stop();
      for (const { close } of [emitting, dispatching]) await close();
    },
  };
}

async function measurePath({ writer, state, collect }: Path, calls: number): Promise<number[]> {
  const begun: [id: string, atMs: number][] = [];
  await collect();
  await atPace({ calls, perSecond: PER_SECOND }, (call) =>
    writer.dataSource.transaction(async (manager) => {
      const id = await state(manager, await insertOrder(manager, call), call);
      begun.push([id, monotonicNowMs()]);
    }),
  );
  const arrived: (readonly [id: string, atMs: number])[] = [];
  const deadlineMs = monotonicNowMs() + 30_000;
  while (arrived.length < calls && monotonicNowMs() < deadlineMs) {
    await new Promise((resolve) => setTimeout(resolve, 20));
    arrived.push(...(await collect()));
  }
  return latenciesOf(begun, arrived);
}

/** Transactions of an instance that has nothing to do, asked for from another database, so that asking costs none. */
function measureIdle({ server, progress, size }: Bench): Promise<Comparison> {
  return server.withDatabase((watching) =>
    server.withDatabase(async (database) => {
      const seconds = size(30, 3);
      progress.step(`idle for ${seconds} s`);
      const idle = await startIdleInstance(database);
      const committed = async (): Promise<number> => {
        const [row] = await watching.query<{ count: string }>(
          'select xact_commit as count from pg_stat_database where datname = $1',
          [new URL(database.url).pathname.slice(1)],
        );
        return Number(row?.count);
      };
      await vacuum(database);
      // What a session has done is counted when it ends, or when it has been idle for ten seconds.
      await new Promise((resolve) => setTimeout(resolve, size(12_000, 1000)));
      const before = await committed();
      await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
      const perSecond = ((await committed()) - before) / seconds;
      await idle.close();
      return compare(
        'idle',
        figure('idle instance', 'tx/s', [perSecond]),
        figure('one transaction a second', 'tx/s', [1]),
        { atMost: 0.5 },
      );
    }),
  );
}

/**
 * Or autovacuum does it in the middle, with a transaction for each table.
 */
async function vacuum({ url }: BenchDatabase): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query('vacuum analyze');
  await client.end();
}
