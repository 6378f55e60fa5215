import { Logger, makeWorkerUtils, run } from 'graphile-worker';
import type { EntityManager } from 'typeorm';
import type { BenchDatabase } from '../measure/bench-server.js';
import { type Moments, monotonicNowMs } from '../measure/latencies.js';
import { FILLER } from './bench-events.js';

const SILENT = new Logger(() => () => undefined);

/** graphile-worker with its defaults, in this process: jobs are added inside a transaction and noted when they run. */
export interface WorkerWithLatency {
  add(manager: EntityManager, id: string): Promise<unknown>;
  collect(): Moments;
  stop(): Promise<void>;
}

export async function startWorkerWithLatency(database: BenchDatabase): Promise<WorkerWithLatency> {
  const utils = await makeWorkerUtils({ connectionString: database.url, logger: SILENT });
  await utils.migrate();
  await utils.release();
  const moments: [string, number][] = [];
  const runner = await run({
    connectionString: database.url,
    noHandleSignals: true,
    logger: SILENT,
    parsedCronItems: [],
    preset: { worker: { concurrentJobs: 4, maxPoolSize: 6 } },
    taskList: {
      bench: async (payload) => {
        moments.push([(payload as { id: string }).id, monotonicNowMs()]);
      },
    },
  });
  return {
    add: (manager, id) =>
      manager.query(`select graphile_worker.add_job('bench', json_build_object('id', $1::text, 'filler', $2::text))`, [
        id,
        FILLER,
      ]),
    collect: () => moments.splice(0),
    stop: () => runner.stop(),
  };
}
