import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { MemoryTransport } from 'nestjs-transactional-outbox/memory';
import { afterEach, describe, expect, it } from 'vitest';
import { noted, type OutboxApp, startOutboxApp, step } from '../support/outbox-app.js';
import { SeededRandom } from '../support/seeded-random.js';

const WRITERS = 20;
const EVENTS = 2000;
const ORDERED_AGGREGATES = 12;
const MAX_DELAY_MS = 60;
const AGGREGATES_OF_ONE_CALL = 50_000;

describe('the queue under load', () => {
  const apps: OutboxApp[] = [];
  afterEach(async () => {
    for (const app of apps.splice(0).reverse()) await app.close();
  });

  it('20 writers that commit late, and three dispatchers: nothing is missing, nothing comes twice, aggregates are in sequence', async () => {
    const memory = new MemoryTransport();
    for (let index = 0; index < 3; index += 1) {
      const app = await startOutboxApp({
        database: apps[0]?.database,
        memory,
        poolSize: WRITERS,
        outbox: {
          destinations: { memory: { transport: memory, batchSize: 20 } },
          dispatcher: { schedule: 'loop', pollIntervalMs: 20, wakeUp: false },
        },
      });
      apps.push(app);
    }
    const [app] = apps;
    if (app === undefined) throw new Error('nothing was started');
    const random = new SeededRandom(42);
    const committed: string[] = [];
    let rolledBack = 0;
    let left = EVENTS;

    const writeOne = async (): Promise<void> => {
      const aggregate = random.between(1, ORDERED_AGGREGATES * 2);
      const event = aggregate <= ORDERED_AGGREGATES ? step(`ordered ${aggregate}`, 1) : noted(randomUUID());
      const delayMs = random.between(0, MAX_DELAY_MS);
      const fails = random.chance(0.1);
      try {
        committed.push(
          ...(await app.dataSource.transaction(async (manager) => {
            const ids = await app.outbox.emit(manager, event);
            await wait(delayMs);
            if (fails) throw new Error('on purpose');
            return ids;
          })),
        );
      } catch (error) {
        if (!fails) throw error;
        rolledBack += 1;
      }
    };
    const writer = async (): Promise<void> => {
      while (left > 0) {
        left -= 1;
        await writeOne();
      }
    };
    await Promise.all(Array.from({ length: WRITERS }, writer));
    expect(committed.length + rolledBack).toBe(EVENTS);
    expect(rolledBack).toBeGreaterThan(50);

    const accepted = await memory.waitForCount(committed.length, 60_000);
    for (const running of apps.splice(1).reverse()) await running.close();
    expect(accepted.map(({ envelope }) => envelope.id).toSorted()).toEqual(committed.toSorted());
    expect(sequencesOutOfOrder(accepted.map(({ envelope }) => envelope))).toEqual([]);
  }, 120_000);

  it('one emit over 50,000 ordered aggregates is one statement, and holds no more than a handful of locks', async () => {
    const app = await startOutboxApp();
    apps.push(app);
    const events = Array.from({ length: AGGREGATES_OF_ONE_CALL }, (_, index) => step(`aggregate ${index}`, 1));
    await app.dataSource.transaction(async (manager) => {
      const ids = await app.outbox.emit(manager, events);
      expect(new Set(ids).size).toBe(AGGREGATES_OF_ONE_CALL);
      const [locks] = await manager.query('select count(*)::int as held from pg_locks where pid = pg_backend_pid()');
      expect(locks.held).toBeLessThan(100);
    });
    // Rows of one statement share its number within the transaction.
    const [stored] = await app.database.query(
      `select count(*)::int as events, count(distinct cmin::text)::int as statements, min(sequence)::int as low,
        max(sequence)::int as high, (select count(*)::int from outbox_delivery) as deliveries,
        (select count(*)::int from outbox_aggregate) as aggregates from outbox_event`,
    );
    const all = AGGREGATES_OF_ONE_CALL;
    expect(stored).toEqual({ events: all, statements: 1, low: 1, high: 1, deliveries: all, aggregates: all });
  }, 120_000);
});

/** Aggregates whose sequence numbers did not come as 1, 2, 3 and so on. */
function sequencesOutOfOrder(
  envelopes: readonly { readonly aggregateId: string; readonly sequence?: bigint | undefined }[],
): string[] {
  const last = new Map<string, bigint>();
  const wrong: string[] = [];
  for (const { aggregateId, sequence } of envelopes) {
    if (sequence === undefined) continue;
    const before = last.get(aggregateId) ?? 0n;
    if (sequence !== before + 1n) wrong.push(`${aggregateId}: ${sequence} after ${before}`);
    last.set(aggregateId, sequence);
  }
  return wrong;
}
