import { randomUUID } from 'node:crypto';
import { MemoryTransport } from 'nestjs-transactional-outbox/memory';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { eventually } from '../support/eventually.js';
import { noted, type OutboxApp, startOutboxApp } from '../support/outbox-app.js';

const HOUR_MS = 3_600_000;

/** Sessions that listen for wake-ups of this database, and have said so. */
const LISTENERS = `select pid from pg_stat_activity
  where datname = current_database() and application_name like '%:outbox-listen' and query like 'listen%'`;

describe('a dispatcher that would poll once an hour', () => {
  let emitter: OutboxApp;
  let dispatching: OutboxApp;
  let wakeUp: boolean;
  let pollIntervalMs: number;

  const start = async (): Promise<void> => {
    emitter = await startOutboxApp({ outbox: { dispatcher: { enabled: false, schedule: false, wakeUp } } });
    dispatching = await startOutboxApp({
      database: emitter.database,
      memory: new MemoryTransport(),
      outbox: { dispatcher: { schedule: 'loop', pollIntervalMs, wakeUp } },
    });
  };
  const emit = (): Promise<string[]> => emitter.outbox.transaction(() => emitter.outbox.emit(noted(randomUUID())));

  beforeEach(() => {
    wakeUp = true;
    pollIntervalMs = HOUR_MS;
  });
  afterEach(async () => {
    await dispatching.close();
    await emitter.close();
  });

  it('delivers at once what another process committed', async () => {
    await start();
    await eventually(async () => expect(await emitter.database.query(LISTENERS)).toHaveLength(1));
    const [id] = await emit();
    const [received] = await dispatching.memory.waitForCount(1, 10_000);
    expect(received?.envelope.id).toBe(id);
  });

  it('listens again after its connection was lost, and looks for what it missed meanwhile', async () => {
    await start();
    await eventually(async () => expect(await emitter.database.query(LISTENERS)).toHaveLength(1));
    for (let round = 1; round <= 3; round += 1) {
      const ended = await emitter.database.query<{ pid: number }>(
        `select pid, pg_terminate_backend(pid) from (${LISTENERS}) as listeners`,
      );
      await emit();
      await dispatching.memory.waitForCount(round, 10_000);
      await eventually(async () => {
        const now = await emitter.database.query<{ pid: number }>(LISTENERS);
        expect(now).toHaveLength(1);
        expect(now[0]?.pid).not.toBe(ended[0]?.pid);
      });
    }
  });

  it('opens no listening connection when wake-ups are switched off, and polling delivers', async () => {
    wakeUp = false;
    pollIntervalMs = 50;
    await start();
    await emit();
    await dispatching.memory.waitForCount(1, 10_000);
    expect(await emitter.database.query(LISTENERS)).toEqual([]);
  });
});
