import type { BenchDatabase } from '../measure/bench-server.js';
import type { Side } from '../measure/interleave.js';
import { runWriters } from '../measure/run-writers.js';
import { expectDrained } from '../sides/backlog.js';
import { eventOf, fillPayloads, type Size } from './payloads.js';
import { type SizingApp, startSizingApp } from './sizing-app.js';

const WRITERS = 8;

/** A backlog worked off, and what it cost this process. */
export interface DrainSide extends Side {
  /** Processor time of this process for a thousand deliveries, in ms, of each measurement. */
  readonly cpuMs: number[];
}

export function drainSide(
  database: BenchDatabase,
  options: {
    readonly name: string;
    readonly size: Size;
    readonly events: number;
    readonly batchSize: number;
    readonly destinations: readonly string[];
  },
): DrainSide {
  const { name, size, events, batchSize, destinations } = options;
  const cpuMs: number[] = [];
  let app: SizingApp;
  return {
    name,
    cpuMs,
    async prepare() {
      app = await startSizingApp(database, { batchSize, destinations });
      await app.dispatcher.drain(); // makes the destinations known
      await fillPayloads(database, events, size, destinations);
    },
    async measure() {
      const startedAt = performance.now();
      const cpu = process.cpuUsage();
      await app.dispatcher.drain();
      const seconds = (performance.now() - startedAt) / 1000;
      const { user, system } = process.cpuUsage(cpu);
      cpuMs.push((user + system) / (events * destinations.length));
      await app.close();
      await expectDrained(database);
      return (events * destinations.length) / seconds;
    },
  };
}

/** Transactions that emit one event each, by several writers of one process. */
export function emitSide(database: BenchDatabase, app: SizingApp, size: Size, events: number): Side {
  const prepared = Array.from({ length: events }, (_, index) => eventOf(size, index));
  return {
    name: `emit ${size.name}`,
    prepare: async () => void (await database.query('truncate outbox_event, outbox_delivery, outbox_aggregate')),
    async measure() {
      const ms = await runWriters({ writers: WRITERS, calls: events }, (call) =>
        app.dataSource.transaction((manager) => app.outbox.emit(manager, prepared[call] ?? [])),
      );
      return 1000 / ms;
    },
  };
}
