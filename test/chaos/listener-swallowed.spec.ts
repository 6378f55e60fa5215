import { randomUUID } from 'node:crypto';
import { MemoryTransport } from 'nestjs-transactional-outbox/memory';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { noted, type OutboxApp, startOutboxApp } from '../support/outbox-app.js';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.js';

const HOUR_MS = 3_600_000;
const LISTENING = /outbox-listen/;
const LISTENERS = `select pid from pg_stat_activity
  where datname = current_database() and application_name like '%:outbox-listen' and query like 'listen%'`;

describe('a dispatcher whose listening connection dies without a word', () => {
  let database: TestDatabase;
  let proxy: TcpProxy;
  let emitter: OutboxApp;
  let dispatching: OutboxApp;
  beforeEach(async () => {
    database = await createTestDatabase();
    proxy = await startTcpProxy(database.url);
    emitter = await startOutboxApp({ database, outbox: { dispatcher: { enabled: false } } });
  });
  afterEach(async () => {
    await dispatching.close();
    await emitter.close();
    await proxy.close();
    await database.drop();
  });

  const start = async (dispatcher: { pollIntervalMs?: number }): Promise<void> => {
    dispatching = await startOutboxApp({
      database: { ...database, url: proxy.through(database.url) },
      memory: new MemoryTransport(),
      outbox: { dispatcher: { schedule: 'loop', ...dispatcher } },
    });
    await eventually(async () => expect(await database.query(LISTENERS)).toHaveLength(1));
    await emit();
    await dispatching.memory.waitForCount(1, 10_000);
  };
  const emit = (): Promise<string[]> => emitter.outbox.transaction(() => emitter.outbox.emit(noted(randomUUID())));

  it('finds by polling, within the interval, what it is no longer told of', async () => {
    await start({});
    proxy.swallow(LISTENING, 'dead');
    for (let count = 2; count <= 3; count += 1) {
      await database.query('select pg_sleep(0.2)'); // the looks that the one before gave rise to are over
      await emit();
      await dispatching.memory.waitForCount(count, 8000);
    }
  });

  it('notices it by itself within a minute, listens again, and finds what it missed though it never polls', async () => {
    await start({ pollIntervalMs: HOUR_MS });
    const [before] = await database.query<{ pid: number }>(LISTENERS);
    proxy.swallow(LISTENING);
    await database.query('select pg_sleep(0.1)'); // the second looks at what came before are over by then
    await emit();
    const replaced = async (): Promise<void> => {
      const now = await database.query<{ pid: number }>(LISTENERS);
      expect(now).toHaveLength(1);
      expect(now).not.toEqual([before]);
      expect(dispatching.memory.accepted).toHaveLength(2);
    };
    await expect(replaced()).rejects.toThrow();
    await eventually(replaced, { timeoutMs: 60_000 });
    await emit();
    await dispatching.memory.waitForCount(3, 10_000);
  }, 90_000);
});
