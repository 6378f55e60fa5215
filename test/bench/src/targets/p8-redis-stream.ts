import { compare } from '../measure/comparison.js';
import { interleave } from '../measure/interleave.js';
import { expectDrained, fillBacklog } from '../sides/backlog.js';
import { FILLER } from '../sides/bench-events.js';
import { startLibrary } from '../sides/library.js';
import { drainByRawLoop, type RawRow } from '../sides/raw-loop.js';
import { BenchStream, entryOf, RedisStreamTransport, type StreamEntry } from '../sides/redis-stream.js';
import type { Bench, Target, TargetResult } from './target.js';

const BATCH_SIZE = 500;

/** What PostgreSQL and Redis take should not add up: while one batch is published, the next one is claimed. */
export const redisStream: Target = {
  id: 'P8',
  title: 'from the table to a Redis Stream no slower than claim, XADD and finalize by hand',
  async run(bench: Bench): Promise<TargetResult> {
    const stream = await BenchStream.open();
    if (stream === undefined) return skipped(bench);
    try {
      return await measureOn(stream, bench);
    } finally {
      await stream.close();
    }
  },
};

function skipped({ progress }: Bench): TargetResult {
  const note = 'SKIPPED, NOTHING WAS MEASURED: no Redis answers at REDIS_URL or 127.0.0.1:6379';
  progress.step(note);
  return { comparisons: [], notes: [note] };
}

function measureOn(stream: BenchStream, { server, size, repeats, progress }: Bench): Promise<TargetResult> {
  const events = size(10_000, 2000);
  return server.withDatabase(async (database) => {
    const library = await startLibrary(database, {
      destination: { transport: new RedisStreamTransport(stream), batchSize: BATCH_SIZE },
      dispatcher: { schedule: false, wakeUp: false },
    });
    await library.dispatcher.drain(); // makes the destination known
    const prepare = async (): Promise<void> => {
      await stream.clear();
      await fillBacklog(database, { events });
    };
    const checked = async (elapsedMs: number): Promise<number> => {
      await expectDrained(database);
      const length = await stream.length();
      if (length !== events) throw new Error(`${length} of ${events} events are in the stream`);
      return elapsedMs;
    };
    const publish = (rows: readonly RawRow[]): Promise<void> => addAll(stream, rows.map(rowEntry));
    const rawLoop = { batchSize: BATCH_SIZE, workers: 1, publish };
    const { ours, against, alone } = await interleave(
      {
        ours: {
          name: 'dispatcher',
          prepare,
          measure: async () => {
            const startedAt = performance.now();
            await library.dispatcher.drain();
            return checked(performance.now() - startedAt);
          },
        },
        against: {
          name: 'serial raw loop',
          prepare,
          // The loop answers events per second, without the time that it takes to connect.
          measure: async () => checked((events / (await drainByRawLoop(database, rawLoop))) * 1000),
        },
        alone: { name: 'XADD alone', prepare: () => stream.clear(), measure: () => timeAlone(stream, events) },
      },
      { repeats, unit: 'ms', progress },
    );
    await library.close();
    return {
      comparisons: [
        compare(`${events} events, batch ${BATCH_SIZE}`, ours, against, { atMost: 1 }),
        compare('beside XADD alone', ours, alone, undefined),
      ],
    };
  });
}

function rowEntry({ event_id, type, aggregateid, payload }: RawRow): StreamEntry {
  return entryOf({ id: event_id, type, aggregateId: aggregateid }, payload);
}

/** What Redis and its client take by themselves. */
async function timeAlone(stream: BenchStream, events: number): Promise<number> {
  const payload = JSON.stringify({ benchId: '1', number: 1, filler: FILLER });
  const entry = entryOf({ id: crypto.randomUUID(), type: 'bench.noted', aggregateId: '1' }, payload);
  const batch = Array.from({ length: BATCH_SIZE }, () => entry);
  const startedAt = performance.now();
  for (let added = 0; added < events; added += BATCH_SIZE) await addAll(stream, batch);
  return performance.now() - startedAt;
}

async function addAll(stream: BenchStream, entries: readonly StreamEntry[]): Promise<void> {
  const error = (await stream.add(entries)).find((found) => found !== null);
  if (error !== undefined) throw error;
}
