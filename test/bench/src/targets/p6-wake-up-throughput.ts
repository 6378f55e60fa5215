import type { EntityManager } from 'typeorm';
import type { BenchDatabase } from '../measure/bench-server.js';
import { type Comparison, compare } from '../measure/comparison.js';
import { interleave, type Side } from '../measure/interleave.js';
import { runWriters } from '../measure/run-writers.js';
import { BenchOrderEntity, emptyTables, insertOrder, noted } from '../sides/business.js';
import { CountingTransport } from '../sides/counting-transport.js';
import { type Library, startLibrary } from '../sides/library.js';
import { notifyInside } from '../sides/notify-floor.js';
import { SecondProcess } from '../sides/second-process.js';
import type { Bench, Target, TargetResult } from './target.js';

const DRAIN_TIMEOUT_MS = 60_000;

/** What telling other processes of new events costs those who write them. */
export const wakeUpThroughput: Target = {
  id: 'P6',
  title: 'wake-ups take little from the throughput of the business transactions',
  async run(bench: Bench): Promise<TargetResult> {
    const comparisons: Comparison[] = [];
    for (const hasDispatcher of [true, false]) {
      for (const writers of [8, 32]) comparisons.push(...(await measureWriters(bench, writers, hasDispatcher)));
    }
    return { comparisons };
  },
};

function measureWriters(
  { server, progress, repeats, size }: Bench,
  writers: number,
  hasDispatcher: boolean,
): Promise<Comparison[]> {
  return server.withDatabase(async (database) => {
    const label = `${writers} writers, ${hasDispatcher ? 'a dispatcher in another process' : 'no dispatcher'}`;
    progress.step(label);
    const quiet = await startWriter(database, writers, { wakeUp: false });
    const telling = await startWriter(database, writers, { wakeUp: true });
    const second = hasDispatcher ? await SecondProcess.start(database, 'dispatcher') : undefined;
    const calls = size(3000, 100);
    const sideOf = (
      name: string,
      { dataSource, outbox }: Library,
      also: (manager: EntityManager, id: string) => Promise<void> = async () => undefined,
    ): Side => ({
      name,
      prepare: async () => {
        if (second !== undefined) await untilDrained(database);
        await emptyTables(dataSource);
      },
      measure: async () =>
        1000 /
        (await runWriters({ writers, calls }, (call) =>
          dataSource.transaction(async (manager) => {
            const id = await insertOrder(manager, call);
            await outbox.emit(manager, noted(id, call));
            await also(manager, id);
          }),
        )),
    });
    const figures = await interleave(
      {
        none: sideOf('no wake-up', quiet),
        wakeUp: sideOf('wake-up', telling),
        inside: sideOf('NOTIFY inside the transaction', quiet, notifyInside),
      },
      { repeats, unit: 'tx/s', progress },
    );
    await second?.stop();
    await quiet.close();
    await telling.close();
    return [
      compare(`wake-up, ${label}`, figures.wakeUp, figures.none, hasDispatcher ? { atLeast: 0.8 } : undefined),
      compare(`NOTIFY inside the transaction, ${label}`, figures.inside, figures.none, undefined),
    ];
  });
}

function startWriter(database: BenchDatabase, writers: number, { wakeUp }: { wakeUp: boolean }): Promise<Library> {
  return startLibrary(database, {
    destination: { transport: new CountingTransport() },
    dispatcher: { enabled: false, wakeUp },
    entities: [BenchOrderEntity],
    poolSize: writers,
  });
}

async function untilDrained(database: BenchDatabase): Promise<void> {
  const deadline = performance.now() + DRAIN_TIMEOUT_MS;
  while (performance.now() < deadline) {
    if ((await database.query('select 1 from outbox_delivery limit 1')).length === 0) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error('the dispatcher did not drain what was emitted, so the measurement is void');
}
