import { compare } from '../measure/comparison.js';
import { interleave, type Side } from '../measure/interleave.js';
import { addBacklog, emptyOutbox } from '../sides/backlog.js';
import { type DrainingLibrary, startDrainingLibrary } from '../sides/draining-library.js';
import type { Bench, Target, TargetResult } from './target.js';

const WORKERS = 4;

/**
 * Statistics of a queue are always stale. What they say when they were taken of an empty one, or of one where nothing
 * was leased, must not lead the planner to another plan for a large batch: a join that is harmless for few rows.
 */
export const staleStatistics: Target = {
  id: 'P9',
  title: 'large batches survive stale statistics',
  run: ({ server, progress, repeats, size }: Bench): Promise<TargetResult> =>
    server.withDatabase(async (database) => {
      const large = await startDrainingLibrary(database, { batchSize: 1000, batchesInFlight: WORKERS });
      const small = await startDrainingLibrary(database, { batchSize: 500, batchesInFlight: WORKERS });
      await database.query('alter table outbox_delivery set (autovacuum_enabled = false)');
      await database.query('alter table outbox_event set (autovacuum_enabled = false)');
      const events = size(50_000, 4000);

      const ofAnEmptyQueue = async (): Promise<void> => {
        await emptyOutbox(database);
        await database.query('analyze outbox_delivery, outbox_event');
        await addBacklog(database, { events });
      };
      const ofNothingLeased = async (): Promise<void> => {
        await emptyOutbox(database);
        await addBacklog(database, { events });
        await database.query('analyze outbox_delivery, outbox_event');
      };
      const measured = async (statistics: string, prepare: () => Promise<void>) => {
        const side = (name: string, library: DrainingLibrary): Side => ({
          name,
          prepare,
          measure: () => library.drain(events),
        });
        const { ours, against } = await interleave(
          { ours: side('batch 1000', large), against: side('batch 500', small) },
          { repeats, unit: 'events/s', progress },
        );
        return compare(`statistics of ${statistics}, ${WORKERS} workers`, ours, against, { atLeast: 0.8 });
      };
      const comparisons = [
        await measured('an empty queue', ofAnEmptyQueue),
        await measured('a queue with nothing leased', ofNothingLeased),
      ];
      for (const library of [large, small]) await library.close();
      return { comparisons };
    }),
};
