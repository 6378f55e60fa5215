import { randomUUID } from 'node:crypto';
import { MemoryTransport } from 'nestjs-transactional-outbox/memory';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type ClaimWatch, watchClaims } from '../support/claim-watch.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { noted, type OutboxApp, startOutboxApp } from '../support/outbox-app.js';

const HOUR_MS = 3_600_000;
/** Equal in their first 62 characters, and equal when folded to lower case. */
const LONG = 'messaging_'.repeat(7).slice(0, 62);
const PAIRS = [
  ['billing', 'shipping'],
  [`${LONG}a`, `${LONG}b`],
  ['Messages', 'messages'],
] as const;

const LISTENERS = `select pid from pg_stat_activity
  where datname = current_database() and application_name like '%:outbox-listen' and query like 'listen%'`;

describe.each(PAIRS)('two outboxes in the schemas %s and %s of one database', (first, second) => {
  let database: TestDatabase;
  let apps: OutboxApp[];
  let watch: ClaimWatch;
  beforeEach(async () => {
    watch = watchClaims();
    apps = [];
    database = await createTestDatabase();
  });
  afterEach(async () => {
    for (const app of apps.reverse()) await app.close();
    await database.drop();
    watch.stop();
  });

  const start = async (schema: string, dispatches: boolean): Promise<OutboxApp> => {
    const app = await startOutboxApp({
      database,
      memory: new MemoryTransport(),
      outbox: {
        schema,
        dispatcher: dispatches ? { schedule: 'loop', pollIntervalMs: HOUR_MS } : { enabled: false, schedule: false },
      },
    });
    apps.push(app);
    return app;
  };
  const emit = (app: OutboxApp): Promise<string[]> =>
    app.outbox.transaction(() => app.outbox.emit(noted(randomUUID())));

  it('do not wake each other, and each is woken by its own', async () => {
    const dispatching = [await start(first, true), await start(second, true)];
    const emitting = await start(second, false);
    await eventually(async () => expect(await database.query(LISTENERS)).toHaveLength(2));
    await watch.quiet();
    const [inFirst, inSecond] = dispatching;
    const firstBefore = claimsOn(watch, first);

    const [id] = await emit(emitting);
    expect((await inSecond?.memory.waitForCount(1, 10_000))?.[0]?.envelope.id).toBe(id);
    await watch.quiet();
    expect(claimsOn(watch, first)).toBe(firstBefore);
    expect(inFirst?.memory.received).toEqual([]);
  });

  it('do not claim what the other one holds', async () => {
    const inFirst = await startOutboxApp({ database, memory: new MemoryTransport(), outbox: { schema: first } });
    const inSecond = await startOutboxApp({ database, memory: new MemoryTransport(), outbox: { schema: second } });
    apps.push(inFirst, inSecond);
    const [id] = await emit(inSecond);
    expect(await inFirst.dispatcher.drain()).toMatchObject({ delivered: 0 });
    expect(inFirst.memory.received).toEqual([]);
    expect(await inSecond.dispatcher.drain()).toMatchObject({ delivered: 1 });
    expect(inSecond.memory.accepted.map(({ envelope }) => envelope.id)).toEqual([id]);
  });
});

function claimsOn(watch: ClaimWatch, schema: string): number {
  return watch.claimsNaming(`"${schema}"."outbox_delivery"`);
}
