import { compare } from '../measure/comparison.js';
import { interleave } from '../measure/interleave.js';
import { expectDrained, fillBacklog } from '../sides/backlog.js';
import { CountingTransport } from '../sides/counting-transport.js';
import { startLibrary } from '../sides/library.js';
import { drainByRawLoop } from '../sides/raw-loop.js';
import type { Bench, Target, TargetResult } from './target.js';

/** What Node adds to the statements: reading envelopes, deciding outcomes, keeping leases, the loop itself. */
export const rawLoop: Target = {
  id: 'P1',
  title: 'the dispatcher costs little beside its own statements',
  async run(bench: Bench): Promise<TargetResult> {
    const { server, progress, repeats } = bench;
    const comparisons = [];
    for (const workers of [1, 4]) {
      for (const batchSize of [100, 500]) {
        const { ours, against } = await server.withDatabase(async (database) => {
          const transport = new CountingTransport();
          const library = await startLibrary(database, {
            destination: { transport, batchSize, batchesInFlight: workers },
            dispatcher: { schedule: false, poolSize: workers, wakeUp: false },
          });
          const events = bench.size(50_000, 2000);
          const prepare = (): Promise<void> => fillBacklog(database, { events });
          await library.dispatcher.drain(); // makes the destination known
          const figures = await interleave(
            {
              ours: {
                name: 'dispatcher',
                prepare,
                measure: async () => {
                  const startedAt = performance.now();
                  await library.dispatcher.drain();
                  const perSecond = events / ((performance.now() - startedAt) / 1000);
                  await expectDrained(database);
                  return perSecond;
                },
              },
              against: { name: 'raw loop', prepare, measure: () => drainByRawLoop(database, { batchSize, workers }) },
            },
            { repeats, unit: 'events/s', progress },
          );
          await library.close();
          return figures;
        });
        comparisons.push(compare(`batch ${batchSize}, ${workers} workers`, ours, against, { atLeast: 0.8 }));
      }
    }
    return { comparisons };
  },
};
