import { setTimeout as wait } from 'node:timers/promises';
import { countConsumer, countLost } from '../figures.js';
import type { Database } from './database.js';

const TIMEOUT_MS = 60_000;
const INTERVAL_MS = 50;

/** Waits until every event was delivered to each of its destinations, or gave up on. */
export async function untilDelivered(orders: Database): Promise<void> {
  await until('every event is delivered', async () => {
    const waiting = await orders.count(
      "select count(*) from outbox_event_status where state in ('pending', 'processing')",
    );
    return waiting === 0;
  });
}

/** Waits until every event was processed by each of its consumers: a broker may still have what was delivered to it. */
export async function untilProcessed(orders: Database, shipping: Database): Promise<void> {
  await until('every event is processed', async () => (await countLost(orders, shipping)) === 0);
}

/** Waits until `order.placed` came to `shipping` so many times. */
export async function untilReceived(shipping: Database, count: number): Promise<void> {
  await until(`shipping received ${count}`, async () => (await countConsumer(shipping, 'shipping')).received >= count);
}

/** Waits until a dispatcher has tried, and found the receiver down. */
export async function untilUnreachable(orders: Database, destination: string): Promise<void> {
  await until(`"${destination}" is unreachable`, async () => {
    const tried = await orders.count(
      "select count(*) from outbox_event_status where destination = $1 and last_error like 'destination unreachable%'",
      [destination],
    );
    return tried > 0;
  });
}

async function until(what: string, check: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + TIMEOUT_MS;
  while (!(await check())) {
    if (performance.now() > deadline) throw new Error(`after ${TIMEOUT_MS / 1000} s it is not yet true that ${what}.`);
    await wait(INTERVAL_MS);
  }
}
