import { randomUUID } from 'node:crypto';
import { HttpTransport } from 'nestjs-transactional-outbox/http';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { ChildProgram } from '../support/child-process.js';
import { eventually } from '../support/eventually.js';
import { startOutboxApp } from '../support/outbox-app.js';
import { diedAt, dieInside, startDoomed } from './crash-window-doomed.js';
import { type CrashScene, startCrashScene } from './crash-window-scene.js';

const NOTHING = { orders: 0, events: 0, deliveries: 0, shipments: 0, records: 0 };
const COMMITTED = { orders: 1, events: 1, deliveries: 1, shipments: 0, records: 0 };
const SHIPPED = { orders: 1, events: 1, deliveries: 0, shipments: 1, records: 1 };

/** What is committed about one order, from outside; deliveries that are not done. */
const TRACES = `with events as (select id::text from outbox_event where aggregateid = $1)
select (select count(*)::int from orders where id::text = $1) as orders,
  (select count(*)::int from events) as events,
  (select count(*)::int from outbox_delivery where event_id::text in (select id from events)) as deliveries,
  (select count(*)::int from shipments where "eventId" in (select id from events)) as shipments,
  (select count(*)::int from processed_events where event_id in (select id from events)) as records`;

describe('an application that is killed while it places an order', { timeout: 60_000 }, () => {
  let scene: CrashScene;
  let orderId: string;
  beforeAll(async () => {
    scene = await startCrashScene();
  });
  afterAll(() => scene.close());
  beforeEach(() => {
    orderId = randomUUID();
  });
  afterEach(() => scene.expectNothingElseChanged());

  const start = (point?: string): ChildProgram =>
    startDoomed(scene.queue.database, 'crash-producer', { dieAt: point, env: { ORDER_ID: orderId } });
  const dieAt = async (point: string): Promise<void> => {
    const program = start(point);
    await diedAt(scene.queue.database, program, point);
    expect(program.lines).not.toContain('placed');
  };
  const dieInCommit = (ending: 'abandon' | 'complete'): Promise<void> =>
    dieInside(scene.queue.database, { operation: 'INSERT', ending }, start);
  const traces = async (): Promise<unknown> => (await scene.queue.database.query(TRACES, [orderId]))[0];
  const expectNothing = async (): Promise<void> => {
    expect(await traces()).toEqual(NOTHING);
    await scene.deliver();
    expect(await traces()).toEqual(NOTHING);
  };
  const expectShippedOnce = async (): Promise<void> => {
    expect(await traces()).toEqual(COMMITTED);
    await scene.deliver();
    expect(await traces()).toEqual(SHIPPED);
  };

  it('before BEGIN: there is neither order nor event', async () => {
    await dieAt('before begin');
    await expectNothing();
  });

  it('after the business write and before the event: there is neither order nor event', async () => {
    await dieAt('after order');
    await expectNothing();
  });

  it('after the event and before COMMIT: there is neither order nor event', async () => {
    await dieAt('before commit');
    await expectNothing();
  });

  it('during its COMMIT, which PostgreSQL abandons: there is neither order nor event', async () => {
    await dieInCommit('abandon');
    await expectNothing();
  });

  it('during its COMMIT, which PostgreSQL completes: there are both, and the order is shipped once', async () => {
    await dieInCommit('complete');
    await expectShippedOnce();
  });

  it('after its COMMIT and before it saw the answer: there are both, and the order is shipped once', async () => {
    await dieAt('after commit');
    await expectShippedOnce();
  });

  it('after its COMMIT, before its caller was answered and anybody was woken: the order is shipped once', async () => {
    await dieAt('before answer');
    await expectShippedOnce();
  });

  it('before it woke the dispatchers: polling finds the event', async () => {
    const { database } = scene.queue;
    const dispatching = await startOutboxApp({
      database,
      outbox: {
        destinations: { memory: { transport: new HttpTransport({ url: scene.receiver.url }) } },
        dispatcher: { schedule: 'loop', pollIntervalMs: 50 },
      },
    });
    try {
      const program = start('before wake-up');
      await diedAt(database, program, 'before wake-up');
      expect(program.lines).toContain('placed');
      await eventually(async () => expect(await traces()).toEqual(SHIPPED));
    } finally {
      await dispatching.close();
    }
  });
});
