import { randomUUID } from 'node:crypto';
import type { Provider } from '@nestjs/common';
import type { DispatcherOptions, Transport } from 'nestjs-transactional-outbox';
import { MemoryTransport } from 'nestjs-transactional-outbox/memory';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { resolveTables } from '../../libs/outbox/src/config/index.js';
import { outboxNames, wakeUpChannel } from '../../libs/outbox/src/store/index.js';
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
  const another = (dispatcher: DispatcherOptions, providers: Provider[] = []): Promise<OutboxApp> =>
    startOutboxApp({ database: emitter.database, providers, outbox: { dispatcher } });
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

  it('delivers at once what another process committed right before it ended', async () => {
    await start();
    await eventually(async () => expect(await emitter.database.query(LISTENERS)).toHaveLength(1));
    const { module, outbox } = await another({ enabled: false });
    await outbox.transaction(() => outbox.emit(noted(randomUUID())));
    await module.close();
    await dispatching.memory.waitForCount(1, 10_000);
  });

  it.each([
    ['without a loop', { enabled: false }],
    ['with a loop', { schedule: 'loop' }],
  ] as const)('delivers at once what a process %s commits while it ends', async (_, options) => {
    await start();
    await eventually(async () => expect(await emitter.database.query(LISTENERS)).toHaveLength(1));
    let ending: OutboxApp;
    const lateRequest = {
      // The dispatcher has left already, and requests are still being answered.
      beforeApplicationShutdown: async () => {
        await ending.dataSource.query('select pg_sleep(0.1)'); // what its end made others look for is over
        await ending.outbox.transaction(() => ending.outbox.emit(noted(randomUUID())));
      },
    };
    ending = await another(options, [{ provide: 'late request', useValue: lateRequest }]);
    await ending.close();
    await dispatching.memory.waitForCount(1, 10_000);
    expect(ending.memory.accepted).toEqual([]);
  });

  it('takes over at once what another dispatcher gave back when it ended', async () => {
    emitter = await startOutboxApp({ outbox: { dispatcher: { enabled: false } } });
    const memory = new MemoryTransport();
    let publishing = (): void => undefined;
    const begun = new Promise<void>((resolve) => {
      publishing = resolve;
    });
    const stuck: Transport = {
      capabilities: memory.capabilities,
      publish: () => {
        publishing();
        return new Promise(() => undefined);
      },
    };
    const ending = await startOutboxApp({
      database: emitter.database,
      outbox: {
        destinations: { memory: { transport: stuck, concurrency: 1 } },
        dispatcher: { schedule: 'loop', pollIntervalMs: HOUR_MS, shutdownGraceMs: 0 },
      },
    });
    const [, untried] = await ending.outbox.transaction(() =>
      ending.outbox.emit([noted(randomUUID()), noted(randomUUID())]),
    );
    await begun;
    dispatching = await startOutboxApp({
      database: emitter.database,
      memory,
      outbox: { dispatcher: { schedule: 'loop', pollIntervalMs: HOUR_MS } },
    });
    await eventually(async () => expect(await emitter.database.query(LISTENERS)).toHaveLength(2));
    expect(memory.accepted).toEqual([]);
    await ending.close();
    await memory.waitForCount(1, 10_000);
    expect(memory.accepted.map(({ envelope }) => envelope.id)).toContain(untried);
  });

  it('does not tell others of what it commits itself, until it ends', async () => {
    await start();
    const listener = new pg.Client(emitter.database.url);
    await listener.connect();
    const heard: unknown[] = [];
    listener.on('notification', ({ payload }) => heard.push(payload));
    await listener.query(`listen "${wakeUpChannel(outboxNames('public', resolveTables()))}"`);
    for (let count = 1; count <= 5; count += 1) {
      await dispatching.outbox.transaction(() => dispatching.outbox.emit(noted(randomUUID())));
      await dispatching.memory.waitForCount(count, 10_000);
    }
    await emit();
    await eventually(() => expect(heard).toEqual(['memory']));
    await dispatching.close();
    await eventually(() => expect(heard).toEqual(['memory', 'memory']));
    await listener.end();
  });
});
