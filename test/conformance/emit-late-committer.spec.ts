import { randomUUID } from 'node:crypto';
import { MemoryTransport } from 'nestjs-transactional-outbox/memory';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { gate } from '../support/gate.js';
import { noted, type OutboxApp, startOutboxApp, step } from '../support/outbox-app.js';

const WRITERS = 20;
const EVENTS_PER_WRITER = 25;

/** Reads rows above the highest id that it has seen: the classic mistake, because ids are drawn before the commit. */
function watermarkReader(app: OutboxApp) {
  let last = '0';
  return async (): Promise<unknown[]> => {
    const rows = await app.database.query<{ id: string; aggregateid: string }>(
      `select d.id, e.aggregateid from outbox_delivery d join outbox_event e on e.id = d.event_id where d.id > $1 order by d.id`,
      [last],
    );
    last = rows.at(-1)?.id ?? last;
    return rows.map(({ aggregateid }) => aggregateid);
  };
}

describe('an event whose transaction commits late', () => {
  let app: OutboxApp;
  beforeAll(async () => {
    app = await startOutboxApp({ outbox: { completion: 'keep' } });
  });
  afterAll(() => app.close());
  beforeEach(async () => {
    await app.database.query('truncate outbox_event, outbox_delivery, outbox_aggregate');
    app.memory.clear();
  });

  const delivered = () => app.memory.accepted.map(({ envelope }) => envelope.aggregateId);

  it.each([
    ['unordered', noted],
    ['ordered', step],
  ])(
    'is delivered although a later one was delivered before it, where a watermark loses it (%s)',
    async (_kind, event) => {
      const [early, late] = [randomUUID(), randomUUID()];
      const readAboveWatermark = watermarkReader(app);
      const [emitted, mayCommit] = [gate(), gate()];
      const slow = app.dataSource.transaction(async (manager) => {
        await app.outbox.emit(manager, event(late, 1));
        emitted.open();
        await mayCommit.opened;
      });
      await emitted.opened;
      await app.dataSource.transaction((manager) => app.outbox.emit(manager, event(early, 1)));
      await app.dispatcher.drain();
      expect(delivered()).toEqual([early]);
      expect(await readAboveWatermark()).toEqual([early]);

      mayCommit.open();
      await slow;
      await app.dispatcher.drain();
      expect(delivered()).toEqual([early, late]);
      expect(await readAboveWatermark()).toEqual([]);
    },
  );

  it(`none of ${WRITERS} writers with random commit delays loses one to three dispatchers, none is sent twice`, async () => {
    const received = new MemoryTransport();
    const dispatchers = await Promise.all(
      Array.from({ length: 3 }, () =>
        startOutboxApp({
          database: app.database,
          memory: received,
          outbox: {
            destinations: { memory: { transport: received, batchSize: 7 } },
            dispatcher: { schedule: 'loop', pollIntervalMs: 10 },
          },
        }),
      ),
    );
    try {
      const written = Array.from({ length: WRITERS }, (_, writer) =>
        Array.from({ length: EVENTS_PER_WRITER }, (_unused, index) =>
          index % 2 === 0 ? noted(randomUUID(), index + 1) : step(`writer-${writer % 7}`, index),
        ),
      );
      const write = async (events: readonly object[]): Promise<string[]> => {
        const ids: string[] = [];
        for (const event of events) {
          await app.dataSource.transaction(async (manager) => {
            ids.push(...(await app.outbox.emit(manager, event)));
            await manager.query('select pg_sleep(random() * 0.02)');
          });
        }
        return ids;
      };
      const emitted = (await Promise.all(written.map(write))).flat();
      await received.waitForCount(emitted.length, 20_000);
      await Promise.all(dispatchers.map(({ dispatcher }) => dispatcher.drain()));

      expect(received.received.map(({ envelope }) => envelope.id).toSorted()).toEqual(emitted.toSorted());
      for (let aggregate = 0; aggregate < 7; aggregate += 1) {
        const sequences = received.accepted
          .filter(({ envelope }) => envelope.aggregateId === `writer-${aggregate}`)
          .map(({ envelope }) => Number(envelope.sequence));
        expect(sequences).toEqual(sequences.map((_, index) => index + 1));
      }
    } finally {
      await Promise.all(dispatchers.map((one) => one.close()));
    }
  });
});
