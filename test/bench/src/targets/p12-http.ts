import { HttpTransport } from 'nestjs-transactional-outbox/http';
import { startProcess } from '../measure/child-process.js';
import { compare } from '../measure/comparison.js';
import { interleave } from '../measure/interleave.js';
import { expectDrained, fillBacklog } from '../sides/backlog.js';
import { postBare, prepareEvents, publishDirectly } from '../sides/http-clients.js';
import { startLibrary } from '../sides/library.js';
import type { Bench, Target, TargetResult } from './target.js';

const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
/** The default of a destination. */
const BATCHES_IN_FLIGHT = 2;

/** What the dispatcher costs where each event is a request: sender and receiver do the same without a database. */
export const http: Target = {
  id: 'P12',
  title: 'HTTP through the dispatcher is not much slower than the same client without a database',
  async run(bench: Bench): Promise<TargetResult> {
    const receiver = startProcess('http-receiver');
    try {
      const origin = `http://127.0.0.1:${await receiver.next()}`;
      const comparisons = [];
      for (const concurrency of [16, 64]) comparisons.push(...(await measureAt(concurrency, origin, bench)));
      return { comparisons };
    } finally {
      await receiver.stop();
    }
  },
};

function measureAt(concurrency: number, origin: string, { server, size, repeats, progress }: Bench) {
  const events = size(20_000, 1000);
  // Each batch in flight has that many publishes of its own.
  const atOnce = concurrency * BATCHES_IN_FLIGHT;
  const options = { url: `${origin}/events`, secret: SECRET, connections: atOnce };
  const prepared = prepareEvents(events);
  return server.withDatabase(async (database) => {
    const direct = new HttpTransport(options);
    const library = await startLibrary(database, {
      destination: { transport: new HttpTransport(options), concurrency, batchesInFlight: BATCHES_IN_FLIGHT },
      dispatcher: { schedule: false, wakeUp: false },
    });
    await library.dispatcher.drain(); // makes the destination known
    const { ours, against, bare } = await interleave(
      {
        ours: {
          name: 'dispatcher',
          prepare: () => fillBacklog(database, { events }),
          measure: async () => {
            const startedAt = performance.now();
            await library.dispatcher.drain();
            const perSecond = events / ((performance.now() - startedAt) / 1000);
            await expectDrained(database);
            return perSecond;
          },
        },
        against: { name: 'transport alone', measure: () => publishDirectly(direct, prepared, atOnce) },
        bare: { name: 'undici alone', measure: () => postBare(origin, prepared, atOnce) },
      },
      { repeats, unit: 'events/s', progress },
    );
    await library.close();
    await direct.close();
    return [
      compare(`concurrency ${concurrency}`, ours, against, { atLeast: 0.7 }),
      compare(`transport beside undici, concurrency ${concurrency}`, against, bare, undefined),
    ];
  });
}
