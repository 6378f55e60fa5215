import { randomUUID } from 'node:crypto';
import { Agent, request } from 'node:http';
import type { InboxMessage } from 'nestjs-transactional-outbox';
import { type Comparison, compare } from '../measure/comparison.js';
import { interleave, type Side } from '../measure/interleave.js';
import { runWriters } from '../measure/run-writers.js';
import { FILLER } from '../sides/bench-events.js';
import { insertOrder } from '../sides/business.js';
import { type Consumer, cloudEvent, startConsumer } from '../sides/consumer-app.js';
import type { Bench, Target, TargetResult } from './target.js';

/** What applying each event once costs the transaction of its effect, and how much sooner a duplicate is done. */
export const inbox: Target = {
  id: 'P11',
  title: 'recording an event adds little to its effect, and a duplicate is cheaper than a first delivery',
  async run(bench: Bench): Promise<TargetResult> {
    const comparisons: Comparison[] = [];
    for (const workers of [1, 8]) comparisons.push(...(await measureWorkers(bench, workers)));
    return { comparisons };
  },
};

function measureWorkers({ server, progress, repeats, size }: Bench, workers: number): Promise<Comparison[]> {
  return server.withDatabase(async (database) => {
    const label = `${workers} ${workers === 1 ? 'worker' : 'workers'}`;
    progress.step(label);
    const consumer = await startConsumer(database, workers);
    const calls = size(1500, 50);
    const rate = async (work: (call: number) => Promise<unknown>): Promise<number> =>
      1000 / (await runWriters({ writers: workers, calls }, work));
    const inProcess = await interleave(inProcessSides(consumer, calls, rate), { repeats, unit: 'events/s', progress });
    const overHttp = await interleave(httpSides(consumer, calls, rate), { repeats, unit: 'events/s', progress });
    await consumer.app.close();
    const { bare, first, duplicate } = inProcess;
    return [
      compare(`process() against the effect alone, ${label}`, first, bare, { atLeast: 0.6 }),
      compare(`duplicates against first deliveries, ${label}`, duplicate, first, { atLeast: 1.5 }),
      compare(`InboxGuard against a bare handler over HTTP, ${label}`, overHttp.first, overHttp.bare, undefined),
      compare(`duplicates over HTTP, ${label}`, overHttp.duplicate, overHttp.first, undefined),
    ];
  });
}

type Rate = (work: (call: number) => Promise<unknown>) => Promise<number>;
type Sides = Record<'bare' | 'first' | 'duplicate', Side>;

function inProcessSides({ dataSource, inbox: service }: Consumer, calls: number, rate: Rate): Sides {
  const deliver = (id: string, number: number): Promise<unknown> =>
    service.process({ consumer: 'bench', event: receivedEvent(id, number) }, (manager) => insertOrder(manager, number));
  return sidesOf(dataSource, calls, rate, deliver, (number) =>
    dataSource.transaction((manager) => insertOrder(manager, number)),
  );
}

function httpSides({ dataSource, url }: Consumer, calls: number, rate: Rate): Sides {
  const agent = new Agent({ keepAlive: true });
  const post = (path: string, body: string): Promise<void> =>
    new Promise((resolve, reject) => {
      const sent = request(
        `${url}/${path}`,
        { method: 'POST', agent, headers: { 'content-type': 'application/cloudevents+json' } },
        (response) => {
          response.resume();
          response.once('end', () =>
            response.statusCode === 200 ? resolve() : reject(new Error(`${path} answered ${response.statusCode}`)),
          );
        },
      );
      sent.once('error', reject);
      sent.end(body);
    });
  return sidesOf(
    dataSource,
    calls,
    rate,
    (id, number) => post('guarded', cloudEvent(id, number)),
    (number) => post('bare', cloudEvent(randomUUID(), number)),
  );
}

/** Every measurement starts with empty tables; that of duplicates first fills them with what it delivers again. */
function sidesOf(
  dataSource: Consumer['dataSource'],
  calls: number,
  rate: Rate,
  deliver: (id: string, number: number) => Promise<unknown>,
  effect: (number: number) => Promise<unknown>,
): Sides {
  let ids: string[] = [];
  const empty = async (): Promise<void> => {
    await dataSource.query('truncate bench_order, processed_events');
    ids = Array.from({ length: calls }, () => randomUUID());
  };
  const deliverAll = (): Promise<number> => rate((call) => deliver(ids[call] ?? '', call));
  return {
    bare: { name: 'effect alone', prepare: empty, measure: () => rate(effect) },
    first: { name: 'first deliveries', prepare: empty, measure: deliverAll },
    duplicate: {
      name: 'duplicates',
      prepare: async () => {
        await empty();
        await deliverAll();
      },
      measure: deliverAll,
    },
  };
}

function receivedEvent(id: string, number: number): InboxMessage['event'] {
  return { id, type: 'bench.noted', payload: { benchId: id, number, filler: FILLER } };
}
