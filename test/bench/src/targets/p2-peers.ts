import type { BenchDatabase } from '../measure/bench-server.js';
import { type Comparison, compare } from '../measure/comparison.js';
import { interleave, type Side } from '../measure/interleave.js';
import { fillBacklog } from '../sides/backlog.js';
import { type DrainingLibrary, startDrainingLibrary } from '../sides/draining-library.js';
import { startGraphileWorker, TUNED } from '../sides/graphile-worker.js';
import { startNestOutbox } from '../sides/nest-outbox.js';
import type { Peer } from '../sides/peer.js';
import { startPgBoss } from '../sides/pg-boss.js';
import { startPgTransactionalOutbox } from '../sides/pg-transactional-outbox.js';
import type { Bench, Target, TargetResult } from './target.js';

/**
 * Everybody drains a backlog of their own with a handler that does nothing. All sides are tuned, each by the best
 * settings that its documentation or its code knows. Slow ones get fewer events, because rates are compared.
 */
export const peers: Target = {
  id: 'P2',
  title: 'many times the throughput of other outboxes, and more than job queues tuned for it',
  run: ({ server, progress, repeats, size }: Bench): Promise<TargetResult> =>
    server.withDatabase(async (database) => {
      const ourDefaults = await startDrainingLibrary(database);
      const ourTuned = await startDrainingLibrary(database, { batchSize: 500, batchesInFlight: 2 });
      const graphileTuned = await startGraphileWorker(database, TUNED);
      const graphileDefaults = await startGraphileWorker(database);
      const boss = await startPgBoss(database);
      const transactionalOutbox = await startPgTransactionalOutbox(database);
      const nestOutbox = await startNestOutbox(database);
      const many = size(50_000, 1000);
      const some = size(3000, 200);
      const figures = await interleave(
        {
          ourDefaults: ours('defaults', database, ourDefaults, many),
          ourTuned: ours('batch 500, 2 in flight', database, ourTuned, many),
          graphileTuned: theirs('graphile-worker tuned', graphileTuned, many),
          graphileDefaults: theirs('graphile-worker, 24 jobs', graphileDefaults, some),
          boss: theirs('pg-boss fetch and complete', boss, many),
          transactionalOutbox: theirs('pg-transactional-outbox polling', transactionalOutbox, some),
          nestOutbox: theirs('nestjs-outbox', nestOutbox, some),
        },
        { repeats, unit: 'events/s', progress },
      );
      for (const side of [ourDefaults, ourTuned]) await side.close();
      for (const peer of [graphileTuned, graphileDefaults, boss, transactionalOutbox, nestOutbox]) await peer.close();

      const { ourDefaults: byDefault, ourTuned: tuned } = figures;
      const comparisons: Comparison[] = [
        compare('graphile-worker, both tuned', tuned, figures.graphileTuned, { atLeast: 1.5 }),
        compare('pg-boss, both tuned', tuned, figures.boss, { atLeast: 2.5 }),
        compare('pg-transactional-outbox, both tuned', tuned, figures.transactionalOutbox, { atLeast: 40 }),
        compare('nestjs-outbox, both tuned', tuned, figures.nestOutbox, { atLeast: 40 }),
        compare('pg-transactional-outbox, ours by default', byDefault, figures.transactionalOutbox, undefined),
        compare('nestjs-outbox, ours by default', byDefault, figures.nestOutbox, undefined),
        compare('graphile-worker, both by default', byDefault, figures.graphileDefaults, undefined),
        compare('graphile-worker tuned, ours by default', byDefault, figures.graphileTuned, undefined),
        compare('pg-boss, ours by default', byDefault, figures.boss, undefined),
      ];
      const bars = Object.values(figures).map(({ side, median }) => [side, median] as const);
      return {
        comparisons,
        plots: [
          {
            title: 'Draining a backlog with a handler that does nothing',
            kind: 'bars',
            xLabel: '',
            yLabel: 'events/s',
            series: [{ name: 'median', points: bars }],
          },
        ],
      };
    }),
};

function ours(name: string, database: BenchDatabase, library: DrainingLibrary, events: number): Side {
  return { name, prepare: () => fillBacklog(database, { events }), measure: () => library.drain(events) };
}

function theirs(name: string, peer: Peer, events: number): Side {
  return { name, prepare: () => peer.fill(events), measure: () => peer.drain(events) };
}
