import { randomUUID } from 'node:crypto';
import { HttpTransport } from 'nestjs-transactional-outbox/http';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { noted, OrderNoted, OrderStep, type OutboxApp, startOutboxApp, step } from '../support/outbox-app.js';
import { type RecordingServer, startRecordingServer } from '../support/recording-server.js';

const ORDERS = 300;
const STEPS = 3;

/** How often an order's event arrived after a later one of the same order. */
function outOfOrder(arrivals: readonly { order: string; number: number }[]): number {
  const highest = new Map<string, number>();
  let count = 0;
  for (const { order, number } of arrivals) {
    const before = highest.get(order) ?? 0;
    if (number < before) count += 1;
    highest.set(order, Math.max(before, number));
  }
  return count;
}

describe('three events of each of 300 orders', () => {
  let receiver: RecordingServer;
  let apps: OutboxApp[];
  beforeEach(async () => {
    receiver = await startRecordingServer();
    apps = [];
  });
  afterEach(async () => {
    for (const app of apps.reverse()) await app.close();
    await receiver.close();
  });

  const start = async (dispatchers: number): Promise<OutboxApp> => {
    for (let index = 0; index < dispatchers; index += 1) {
      apps.push(
        await startOutboxApp({
          database: apps[0]?.database,
          outbox: {
            destinations: {
              receiver: { transport: new HttpTransport({ url: receiver.url }), batchSize: 20, concurrency: 4 },
            },
            routes: [{ events: [OrderStep, OrderNoted], to: ['receiver'] }],
          },
        }),
      );
    }
    const [first] = apps;
    if (first === undefined) throw new Error('no dispatcher was asked for');
    return first;
  };
  const arrivals = (): { order: string; number: number }[] =>
    receiver.requests.map(({ body }) => {
      const { data } = JSON.parse(body.toString()) as {
        data: { orderId: string; step?: number; amountCents?: number };
      };
      return { order: data.orderId, number: data.step ?? data.amountCents ?? 0 };
    });
  const emitAll = async (app: OutboxApp, make: (order: string, number: number) => object): Promise<void> => {
    const orders = Array.from({ length: ORDERS }, () => randomUUID());
    for (let number = 1; number <= STEPS; number += 1) {
      await app.outbox.transaction(() => app.outbox.emit(orders.map((order) => make(order, number))));
    }
  };

  for (const dispatchers of [2, 4]) {
    it(`arrive in order from ${dispatchers} dispatchers when the type is ordered`, async () => {
      const app = await start(dispatchers);
      await emitAll(app, step);
      const summaries = await Promise.all(apps.map(({ dispatcher }) => dispatcher.drain()));
      expect(receiver.requests).toHaveLength(ORDERS * STEPS);
      expect(outOfOrder(arrivals())).toBe(0);
      expect(summaries.filter(({ delivered }) => delivered > 0).length).toBeGreaterThan(1);
    });
  }

  it('arrive out of order from several dispatchers when the type is not ordered', async () => {
    const app = await start(4);
    // The three events of an order stand side by side in the queue, as when a service states them one after the other.
    await app.outbox.transaction(() =>
      app.outbox.emit(
        Array.from({ length: ORDERS }, () => randomUUID()).flatMap((order) => [
          noted(order, 1),
          noted(order, 2),
          noted(order, 3),
        ]),
      ),
    );
    receiver.answerWith((_, index) => ({ status: 204, delayMs: index % 7 }));
    await Promise.all(apps.map(({ dispatcher }) => dispatcher.drain()));
    expect(receiver.requests).toHaveLength(ORDERS * STEPS);
    expect(outOfOrder(arrivals())).toBeGreaterThan(0);
  });

  it('wait for the first one of their order when it fails, while other orders go on', async () => {
    const app = await start(2);
    const [failing, other] = [randomUUID(), randomUUID()];
    await app.outbox.transaction(() =>
      app.outbox.emit([1, 2, 3].flatMap((number) => [step(failing, number), step(other, number)])),
    );
    let failures = 1;
    receiver.answerWith(({ body }) => ({
      status: body.toString().includes(failing) && failures-- > 0 ? 500 : 204,
    }));
    await Promise.all(apps.map(({ dispatcher }) => dispatcher.drain()));
    expect(
      arrivals()
        .filter(({ order }) => order === other)
        .map(({ number }) => number),
    ).toEqual([1, 2, 3]);
    expect(
      arrivals()
        .filter(({ order }) => order === failing)
        .map(({ number }) => number),
    ).toEqual([1]);

    await app.database.query('update outbox_delivery set available_at = now()');
    await app.dispatcher.drain();
    expect(
      arrivals()
        .filter(({ order }) => order === failing)
        .map(({ number }) => number),
    ).toEqual([1, 1, 2, 3]);
  });
});
