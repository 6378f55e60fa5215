import type { BenchDatabase } from '../measure/bench-server.js';
import { compare } from '../measure/comparison.js';
import { interleave, type Side } from '../measure/interleave.js';
import { type Backlog, expectDrained, fillBacklog } from '../sides/backlog.js';
import { type Library, startLibrary } from '../sides/library.js';
import { OrderCheckingTransport } from '../sides/order-checking-transport.js';
import type { Bench, Plot, Target, TargetResult } from './target.js';

const DAY_MS = 86_400_000;

interface Skew extends Omit<Backlog, 'events'> {
  /** Aggregate whose first event is answered with `retry`, so that all of it is held back and the rest has to flow. */
  readonly refusing?: string;
}

/** The unordered events that all others are compared with, and the ways in which ordered ones are spread. */
function skews(events: number): Readonly<Record<string, Skew>> {
  return {
    unordered: {},
    '1000 aggregates': { aggregates: 1000 },
    'all distinct': { aggregates: events },
    'half in one': { aggregates: 1000, shareOfFirst: 0.5 },
    'all in one': { aggregates: 1 },
    'one key in retry': { aggregates: 1000, refusing: '0' },
    'one key with half of all in retry': { aggregates: 1000, shareOfFirst: 0.5, refusing: '0' },
  };
}

/** Order within an aggregate is to be cheap however the events are spread, and is checked while it is measured. */
export const ordered: Target = {
  id: 'P7',
  title: 'order per aggregate costs little, however the events are spread',
  async run(bench: Bench): Promise<TargetResult> {
    const comparisons = [];
    const series: Plot['series'][number][] = [];
    for (const { workers, atLeast } of [
      { workers: 1, atLeast: 0.75 },
      { workers: 4, atLeast: 0.6 },
    ]) {
      const figures = await measureSkews(bench, workers);
      const { unordered } = figures;
      if (unordered === undefined) throw new Error('the unordered side is missing');
      for (const [name, ours] of Object.entries(figures)) {
        if (ours !== unordered) comparisons.push(compare(`${name}, ${workers} workers`, ours, unordered, { atLeast }));
      }
      series.push({
        name: workers === 1 ? '1 worker' : `${workers} workers`,
        points: Object.entries(figures).map(([name, { median }]) => [name, median]),
      });
    }
    const notes = ['Each delivery was checked: no event overtook an earlier one of its aggregate.'];
    const labels = { xLabel: 'how the events are spread over aggregates', yLabel: 'events/s' };
    const plots: Plot[] = [{ title: 'Throughput by skew', kind: 'bars', ...labels, series }];
    return { comparisons, plots, notes };
  },
};

function measureSkews({ server, size, repeats, progress }: Bench, workers: number) {
  const events = size(100_000, 2000);
  return server.withDatabase(async (database) => {
    const transport = new OrderCheckingTransport();
    const library = await startLibrary(database, {
      // The back-off is a chance between 0 and its cap: two days at least keep it out of the measurement.
      destination: { transport, batchesInFlight: workers, retryBaseMs: DAY_MS, retryCapMs: 30 * DAY_MS },
      dispatcher: { schedule: false, poolSize: workers, wakeUp: false },
    });
    await library.dispatcher.drain(); // makes the destination known
    const sides = Object.entries(skews(events)).map(([name, skew]): [string, Side] => [
      name,
      {
        name,
        prepare: () => fillBacklog(database, { events, ...skew }),
        measure: () => measure(database, library, transport, events, skew),
      },
    ]);
    const figures = await interleave(Object.fromEntries(sides), { repeats, unit: 'events/s', progress });
    await library.close();
    return figures;
  });
}

/** @returns delivered events per second. */
async function measure(
  database: BenchDatabase,
  library: Library,
  transport: OrderCheckingTransport,
  events: number,
  { refusing }: Skew,
): Promise<number> {
  transport.reset(refusing);
  const startedAt = performance.now();
  await library.dispatcher.drain();
  const seconds = (performance.now() - startedAt) / 1000;
  if (transport.violations > 0) throw new Error(`${transport.violations} events overtook an earlier one`);
  if (refusing === undefined) await expectDrained(database);
  const left = refusing === undefined ? 0 : await countHeldBack(database, refusing);
  if (transport.count + left !== events) throw new Error(`${transport.count} delivered and ${left} left of ${events}`);
  return transport.count / seconds;
}

/** @throws Error when something of another aggregate is left. */
async function countHeldBack(database: BenchDatabase, aggregateId: string): Promise<number> {
  const [row] = await database.query<{ left: number; others: number }>(
    `select count(*)::int as left, (count(*) filter (where e.aggregateid <> $1))::int as others
     from outbox_delivery d join outbox_event e on e.id = d.event_id`,
    [aggregateId],
  );
  if (row?.others !== 0) throw new Error(`${row?.others} events of other aggregates did not flow`);
  return row.left;
}
