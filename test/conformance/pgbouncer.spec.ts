import { randomUUID } from 'node:crypto';
import { Logger } from '@nestjs/common';
import { PartitionService, RetentionService } from 'nestjs-transactional-outbox';
import { MemoryTransport } from 'nestjs-transactional-outbox/memory';
import pg from 'pg';
import { DataSource } from 'typeorm';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { DataSourceClient, detectPooler, WakeUpListener } from '../../libs/outbox/src/store/index.js';
import { codeBlocks } from '../docs/pages.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { noted, type OutboxApp, type OutboxAppOptions, startOutboxApp, step } from '../support/outbox-app.js';
import { mayLackPgBouncer, type PgBouncer, startPgBouncer } from '../support/pgbouncer.js';

const HOUR_MS = 3_600_000;
/** What the documentation tells people to write. */
const [DOCUMENTED] = codeBlocks('ini').map(({ text }) => text);
const LISTENERS = `select pid from pg_stat_activity
  where datname = current_database() and application_name like '%:outbox-listen' and query like 'listen%'`;

describe.skipIf(mayLackPgBouncer)('behind PgBouncer', () => {
  let database: TestDatabase;
  let bouncer: PgBouncer;
  let said: string[];
  const apps: OutboxApp[] = [];
  beforeEach(async () => {
    database = await createTestDatabase();
    said = [];
    for (const level of ['warn', 'error'] as const) {
      vi.spyOn(Logger.prototype, level).mockImplementation((message: unknown) => {
        // Nest says this of two applications in one process.
        if (!String(message).includes('data source with the default name')) said.push(String(message));
      });
    }
  });
  afterEach(async () => {
    for (const app of apps.splice(0).reverse()) await app.close();
    vi.restoreAllMocks();
    await bouncer.close();
    await database.drop();
  });

  const pool = async (settings: string | undefined): Promise<void> => {
    bouncer = await startPgBouncer(database.url, settings ?? '');
  };
  const start = async (outbox: OutboxAppOptions['outbox']): Promise<OutboxApp> => {
    const app = await startOutboxApp({
      database: { ...database, url: bouncer.through(database.url) },
      memory: new MemoryTransport(),
      ...(outbox === undefined ? {} : { outbox }),
    });
    apps.push(app);
    return app;
  };
  const emitIn = (app: OutboxApp): Promise<string[]> =>
    app.outbox.transaction(() => app.outbox.emit(noted(randomUUID())));

  it.each([
    ['PostgreSQL itself', undefined, false],
    ['PgBouncer in transaction mode', 'pool_mode = transaction', true],
    ['PgBouncer in session mode', 'pool_mode = session', true],
  ])('a connection to %s is told from others', async (_, settings, isPooled) => {
    await pool(settings);
    const url = settings === undefined ? database.url : bouncer.through(database.url);
    const client = new pg.Client(url);
    await client.connect();
    const lender = new pg.Pool({ connectionString: url });
    const lent = await lender.connect();
    expect([await detectPooler(client), await detectPooler(lent)]).toEqual([isPooled, isPooled]);
    lent.release();
    await lender.end();
    await client.end();
  });

  it('in transaction mode, set up as documented, a dispatcher says once that no wake-ups come, and polls every second', async () => {
    await pool(DOCUMENTED);
    const emitter = await start({ dispatcher: { enabled: false } });
    const dispatching = await start({ dispatcher: { schedule: 'loop' } });
    await eventually(() => expect(said).toHaveLength(1));
    expect(said[0]).toContain('do not come through the connection pooler');
    expect(said[0]).toContain('"dispatcher.wakeUp"');
    for (let count = 1; count <= 4; count += 1) {
      await emitIn(emitter);
      await dispatching.memory.waitForCount(count, 2500);
    }
    expect(said).toHaveLength(1);
  });

  it('in transaction mode, set up as documented, everything is delivered, in order where it has one, and nothing is complained of', async () => {
    await pool(DOCUMENTED);
    const app = await start({ dispatcher: { schedule: 'loop', wakeUp: false } });
    const aggregates = Array.from({ length: 20 }, () => randomUUID());
    for (let number = 1; number <= 10; number += 1) {
      await app.outbox.transaction(() => app.outbox.emit(aggregates.map((id) => step(id, number))));
    }
    await Promise.all(Array.from({ length: 50 }, () => emitIn(app)));
    await app.memory.waitForCount(250, 20_000);
    for (const id of aggregates) {
      const steps = app.memory.accepted.filter(({ envelope }) => envelope.aggregateId === id);
      expect(steps.map(({ envelope }) => (envelope.payload as { step: number }).step)).toEqual([
        1, 2, 3, 4, 5, 6, 7, 8, 9, 10,
      ]);
    }
    await eventually(async () => expect(await database.query('select 1 from outbox_delivery')).toEqual([]));
    expect(said).toEqual([]);
  });

  it('in transaction mode the log is moved to partitions, and the upkeep is that of one process at a time', async () => {
    await pool(DOCUMENTED);
    const replicas = [await start({}), await start({}), await start({})];
    await emitIn(replicas[0] as OutboxApp);
    const moves = await Promise.all(replicas.map(({ module }) => module.get(PartitionService).partition()));
    expect(moves.toSorted()).toEqual(['already', 'already', 'partitioned']);
    await emitIn(replicas[1] as OutboxApp);
    expect(await replicas[2]?.dispatcher.drain()).toMatchObject({ delivered: 2 });
    const pruned = await Promise.all(
      replicas.map(({ module }) => module.get(RetentionService).prune({ olderThanMs: 0 })),
    );
    expect(pruned.reduce((sum, { events }) => sum + events, 0)).toBe(2);
    const locks = await database.query(`select from pg_locks where locktype = 'advisory'
      and database = (select oid from pg_database where datname = current_database())`);
    expect(locks).toEqual([]);
  });

  it('the documented setting is needed: without it the dispatcher cannot connect, and says why', async () => {
    await pool('pool_mode = transaction');
    const app = await start({});
    await app.dispatcher.dispatchOnce();
    expect(said).toHaveLength(1);
    expect(said[0]).toContain('unsupported startup parameter: statement_timeout');
  });

  it('in session mode wake-ups come, and nothing is said', async () => {
    await pool(`pool_mode = session\n${DOCUMENTED?.replace(/^pool_mode.*$/m, '')}`);
    const emitter = await start({ dispatcher: { enabled: false } });
    const dispatching = await start({ dispatcher: { schedule: 'loop', pollIntervalMs: HOUR_MS } });
    await eventually(async () => expect(await database.query(LISTENERS)).toHaveLength(1));
    await emitIn(emitter);
    await dispatching.memory.waitForCount(1, 10_000);
    expect(said).toEqual([]);
  });

  it('in transaction mode a listener that heard nothing takes its LISTEN back, and goes on trying without a word', async () => {
    await pool('pool_mode = transaction\ndefault_pool_size = 1');
    const dataSource = new DataSource({ type: 'postgres', url: bouncer.through(database.url) });
    await dataSource.initialize();
    let woken = 0;
    let pooled = 0;
    const beliefs: boolean[] = [];
    const lost: unknown[] = [];
    const listener = new WakeUpListener(
      dataSource,
      'outbox_test',
      new DataSourceClient(dataSource),
      {
        onWake: () => {
          woken += 1;
        },
        onListening: (isListening) => beliefs.push(isListening),
        onLost: (error) => lost.push(error),
        onPooled: () => {
          pooled += 1;
        },
      },
      { checkIntervalMs: 10, checkTimeoutMs: 100, reconnectBaseMs: 1, reconnectCapMs: 1, pooledRetryMs: 200 },
    );
    listener.start();
    await eventually(() => expect(woken).toBeGreaterThan(2));
    expect([pooled, beliefs, lost]).toEqual([1, [], []]);
    await listener.stop();
    // The only connection that PgBouncer has to PostgreSQL.
    const [first] = await dataSource.query('select array(select pg_listening_channels()) as channels');
    expect(first).toEqual({ channels: [] });
    await dataSource.destroy();
  });
});
