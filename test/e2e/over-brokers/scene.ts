import { randomUUID } from 'node:crypto';
import { inboxSchemaSql } from 'nestjs-transactional-outbox';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { BrokerChoice } from '../../processes/broker-choice.js';
import { type ChildProgram, startChild } from '../../support/child-process.js';
import { createTestDatabase, type TestDatabase } from '../../support/database.js';
import { step } from '../../support/outbox-app.js';
import { type OutboxQueue, startOutboxQueue } from '../../support/outbox-queue.js';

const ORDERS = 2000;
const STEPS = 3;
const ORDERS_PER_TRANSACTION = 100;
const TRANSACTIONS = ORDERS / ORDERS_PER_TRANSACTION;
/** A part of the work of the first half, so that the deaths fall into it. */
const DISPATCHER_DIES_AFTER = 700;
const CONSUMER_DIES_AFTER = 400;
/** When so many took effect, the second half is emitted and the broker interrupted: both sides are at work then. */
const INTERRUPT_AFTER = 2500;
const PATIENT = { timeout: 120_000, interval: 200 };

const dispatcher = new URL('../../processes/dist/broker-dispatcher.js', import.meta.url);
const consumer = new URL('../../processes/dist/broker-consumer.js', import.meta.url);

/** A broker, with a place of its own for the test. */
export interface BrokerScene {
  readonly choice: BrokerChoice;
  /** Restarts the broker, or ends all connections and takes none for a while; resolves when it is back. */
  interrupt(): Promise<void>;
  close(): Promise<void>;
}

export interface SceneOptions {
  readonly isSkipped: boolean;
  /** Whether consumers get the events of an order in their order, however many consumers there are. */
  readonly keepsOrder: boolean;
  open(): Promise<BrokerScene>;
}

/** Orders by way of a broker to shipping, all of it in processes that die, over a broker that is interrupted. */
export function describeOver(name: string, { isSkipped, keepsOrder, open }: SceneOptions): void {
  describe.skipIf(isSkipped)(`2,000 orders with three events each, over ${name}`, { timeout: 180_000 }, () => {
    let scene: BrokerScene;
    let queue: OutboxQueue;
    let shipping: TestDatabase;
    const children: ChildProgram[] = [];
    beforeAll(async () => {
      scene = await open();
      queue = await startOutboxQueue();
      shipping = await createTestDatabase();
      await shipping.query(inboxSchemaSql());
      await shipping.query(
        'create table effects (id bigint generated always as identity, event_id text, order_id text, step int)',
      );
    });
    afterAll(async () => {
      await Promise.all(children.map((child) => child.kill('SIGKILL')));
      await queue.close();
      await shipping.drop();
      await scene.close();
    });

    const start = async (
      program: URL,
      database: TestDatabase,
      env: Record<string, string> = {},
    ): Promise<ChildProgram> => {
      const child = startChild(program, {
        env: { DATABASE: database.url, BROKER: JSON.stringify(scene.choice), NO_COLOR: '1', ...env },
      });
      children.push(child);
      await child.waitForLine(/^ready$/, 30_000);
      return child;
    };
    const effects = async (): Promise<number> => {
      const [row] = await shipping.query<{ count: number }>('select count(*)::int as count from effects');
      return row?.count ?? 0;
    };

    it('nothing is lost, nothing takes effect twice, and who dies is succeeded', async () => {
      // Alone at first, so that they come to the work at which they die.
      const mortals = await Promise.all([
        start(consumer, shipping, { DIES_AFTER: String(CONSUMER_DIES_AFTER) }),
        start(dispatcher, queue.database, { DIES_AFTER: String(DISPATCHER_DIES_AFTER) }),
      ]);
      await emitOrders(queue, TRANSACTIONS / 2);
      await Promise.all(mortals.map((mortal) => mortal.exited));
      await Promise.all(
        [consumer, consumer]
          .map((program) => start(program, shipping))
          .concat([dispatcher, dispatcher].map((program) => start(program, queue.database))),
      );
      await expect.poll(effects, PATIENT).toBeGreaterThan(INTERRUPT_AFTER);
      await emitOrders(queue, 1);
      await Promise.all([emitOrders(queue, TRANSACTIONS / 2 - 1), scene.interrupt()]);
      await expect.poll(effects, PATIENT).toBeGreaterThanOrEqual(ORDERS * STEPS);
      await expect.poll(async () => (await queue.deliveries()).length, PATIENT).toBe(0);
      const [found] = await shipping.query(
        `select count(*)::int as effects, count(distinct event_id)::int as distinct, (select count(*)::int from
          processed_events) as records, (select count(*)::int from processed_events_failed) as failed from effects`,
      );
      const all = ORDERS * STEPS;
      expect(found).toEqual({ effects: all, distinct: all, records: all, failed: 0 });
      if (keepsOrder) expect(await outOfOrder(shipping)).toBe(0);
    });
  });
}

async function emitOrders(queue: OutboxQueue, transactions: number): Promise<void> {
  for (let count = 0; count < transactions; count += 1) {
    const orders = Array.from({ length: ORDERS_PER_TRANSACTION }, () => randomUUID());
    await queue.emit(...orders.flatMap((id) => Array.from({ length: STEPS }, (_, index) => step(id, index + 1))));
  }
}

/** Effects of an event after those of a later one of its order. */
async function outOfOrder(shipping: TestDatabase): Promise<number> {
  const [row] = await shipping.query<{ count: number }>(
    `select count(*)::int as count from (
       select step, max(step) over (partition by order_id order by id rows between unbounded preceding and 1 preceding)
         as furthest from effects) arrivals where step < furthest`,
  );
  return row?.count ?? 0;
}
