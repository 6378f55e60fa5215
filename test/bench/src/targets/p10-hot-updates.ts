import { setTimeout } from 'node:timers/promises';
import type { BenchDatabase } from '../measure/bench-server.js';
import { compare, figure } from '../measure/comparison.js';
import { type Backlog, fillBacklog } from '../sides/backlog.js';
import { startDrainingLibrary } from '../sides/draining-library.js';
import type { Bench, Target, TargetResult } from './target.js';

/**
 * A claim that is no heap-only update writes to every index of the queue and leaves an entry behind in each. At the
 * default settings every update of the table is a claim: what was delivered is deleted.
 */
export const hotUpdates: Target = {
  id: 'P10',
  title: 'claims are heap-only updates at default settings',
  async run(bench: Bench): Promise<TargetResult> {
    const events = bench.size(50_000, 20_000);
    return {
      comparisons: [
        await shareOfHot(bench, 'unordered', { events }),
        await shareOfHot(bench, 'ordered, 1,000 aggregates', { events, aggregates: 1000 }),
      ],
    };
  },
};

async function shareOfHot({ server, progress, repeats }: Bench, name: string, backlog: Backlog) {
  const hot: number[] = [];
  const all: number[] = [];
  for (let round = 1; round <= repeats; round += 1) {
    const updates = await server.withDatabase((database) => updatesOfADrain(database, backlog));
    progress.sample(`${name}, heap-only`, round, repeats, updates.hot / updates.all, 'of the updates');
    hot.push(updates.hot);
    all.push(updates.all);
  }
  return compare(name, figure('heap-only', 'updates', hot), figure('all', 'updates', all), { atLeast: 0.95 });
}

async function updatesOfADrain(database: BenchDatabase, backlog: Backlog): Promise<{ hot: number; all: number }> {
  const library = await startDrainingLibrary(database);
  await fillBacklog(database, backlog);
  await library.drain(backlog.events);
  await library.close(); // at the latest now its connections hand in what they counted
  for (;;) {
    const [row] = await database.query<{ hot: number; all: number; gone: number }>(
      `select n_tup_hot_upd::int as hot, n_tup_upd::int as all, n_tup_del::int as gone
       from pg_stat_user_tables where relname = 'outbox_delivery'`,
    );
    if (row !== undefined && row.gone >= backlog.events) return row;
    await setTimeout(20);
  }
}
