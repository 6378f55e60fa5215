import { Logger, makeWorkerUtils, run } from 'graphile-worker';
import type { BenchDatabase } from '../measure/bench-server.js';
import { chunksOf, HandledCount, type Peer, payloadOf } from './peer.js';

const CONCURRENT_JOBS = 24;
const SILENT = new Logger(() => () => undefined);

/** Settings of the worker, beside 24 jobs at once and the pool size that its documentation recommends for that. */
export type GraphileSettings = Pick<GraphileConfig.WorkerOptions, 'localQueue' | 'completeJobBatchDelay'>;

/** The fastest of its documented settings: jobs fetched in batches, and completed in batches without a delay. */
export const TUNED: GraphileSettings = { localQueue: { size: 500 }, completeJobBatchDelay: 0 };

/** graphile-worker: a job queue whose SQL is held in high esteem; a row per job, deleted on success. */
export async function startGraphileWorker(database: BenchDatabase, settings: GraphileSettings = {}): Promise<Peer> {
  const utils = await makeWorkerUtils({ connectionString: database.url, logger: SILENT });
  await utils.migrate();
  return {
    async fill(events) {
      await database.query('truncate graphile_worker._private_jobs');
      for (const chunk of chunksOf(events, 10_000))
        await utils.addJobs(chunk.map((number) => ({ identifier: 'bench', payload: payloadOf(number) })));
      await database.query('vacuum analyze graphile_worker._private_jobs');
    },
    async drain(events) {
      const handled = new HandledCount(events);
      const runner = await run({
        connectionString: database.url,
        noHandleSignals: true,
        logger: SILENT,
        taskList: { bench: async () => handled.add() },
        parsedCronItems: [],
        preset: { worker: { concurrentJobs: CONCURRENT_JOBS, maxPoolSize: CONCURRENT_JOBS + 2, ...settings } },
      });
      const perSecond = await handled.perSecond(
        database,
        'select exists (select from graphile_worker._private_jobs) as is_left',
      );
      await runner.stop();
      return perSecond;
    },
    close: async () => await utils.release(),
  };
}
