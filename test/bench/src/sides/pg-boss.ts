import PgBoss from 'pg-boss';
import type { BenchDatabase } from '../measure/bench-server.js';
import { chunksOf, HandledCount, type Peer, payloadOf } from './peer.js';

const QUEUE = 'bench';
const BATCH_SIZE = 1000;
const LOOPS = 2;

/**
 * pg-boss by its fetch and complete, which are many times as fast as its workers: two loops, 1,000 jobs each time. Its
 * maintenance is switched off.
 */
export async function startPgBoss(database: BenchDatabase): Promise<Peer> {
  const boss = new PgBoss({ connectionString: database.url, supervise: false, schedule: false });
  boss.on('error', (error) => process.stderr.write(`pg-boss: ${error.message}\n`));
  await boss.start();
  await boss.createQueue(QUEUE);
  return {
    async fill(events) {
      await boss.clearStorage();
      for (const chunk of chunksOf(events, 10_000))
        await boss.insert(chunk.map((number) => ({ name: QUEUE, data: payloadOf(number) })));
      await database.query('vacuum analyze pgboss.job');
    },
    async drain(events) {
      const handled = new HandledCount(events);
      await Promise.all(Array.from({ length: LOOPS }, () => work(boss, handled)));
      return handled.perSecond(database, "select exists (select from pgboss.job where state < 'completed') as is_left");
    },
    close: () => boss.stop({ graceful: false, wait: true }),
  };
}

async function work(boss: PgBoss, handled: HandledCount): Promise<void> {
  for (;;) {
    const jobs = await boss.fetch(QUEUE, { batchSize: BATCH_SIZE });
    if (jobs.length === 0) return;
    for (const _ of jobs) handled.add();
    await boss.complete(
      QUEUE,
      jobs.map(({ id }) => id),
    );
  }
}
