import { setMaxListeners } from 'node:events';
import type { OutgoingEvent, Transport } from 'nestjs-transactional-outbox';
import { Pool } from 'undici';
import { FILLER } from './bench-events.js';
import { DESTINATION } from './library.js';

/** Runs `count` pieces of work, so many at a time. */
export async function runConcurrently(
  count: number,
  concurrency: number,
  work: (index: number) => Promise<void>,
): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let index = next++; index < count; index = next++) await work(index);
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
}

/** Events as the dispatcher would hand them over, without a database. */
export function prepareEvents(count: number): readonly OutgoingEvent[] {
  return Array.from({ length: count }, (_, number) => ({
    envelope: {
      id: crypto.randomUUID(),
      type: 'bench.noted',
      aggregateType: 'bench',
      aggregateId: String(number),
      payload: { benchId: String(number), number, filler: FILLER },
      headers: {},
      version: 1,
      sequence: undefined,
      createdAt: new Date(),
    },
    destination: DESTINATION,
    attempt: 1,
    redrives: 0,
  }));
}

/** @returns events per second. */
export async function publishDirectly(
  transport: Transport,
  events: readonly OutgoingEvent[],
  concurrency: number,
): Promise<number> {
  const { signal } = new AbortController();
  setMaxListeners(0, signal); // one for each request that runs
  const startedAt = performance.now();
  await runConcurrently(events.length, concurrency, async (index) => {
    const outcomes = await transport.publish(events.slice(index, index + 1), signal);
    if (outcomes[0]?.kind !== 'delivered') throw new Error(`event ${index} was not delivered: ${outcomes[0]?.kind}`);
  });
  return events.length / ((performance.now() - startedAt) / 1000);
}

/** The same bodies by nothing but undici. @returns events per second. */
export async function postBare(origin: string, events: readonly OutgoingEvent[], concurrency: number): Promise<number> {
  const pool = new Pool(origin, { connections: concurrency });
  const startedAt = performance.now();
  await runConcurrently(events.length, concurrency, async (index) => {
    const { statusCode, body } = await pool.request({
      path: '/events',
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(events[index]?.envelope),
    });
    await body.dump();
    if (statusCode !== 204) throw new Error(`event ${index} was answered ${statusCode}`);
  });
  const perSecond = events.length / ((performance.now() - startedAt) / 1000);
  await pool.close();
  return perSecond;
}
