import { randomUUID } from 'node:crypto';
import { MemoryTransport } from 'nestjs-transactional-outbox/memory';
import pg from 'pg';
import { DataSource } from 'typeorm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DispatcherPool, PostgresDeliveryStore } from '../../libs/outbox/src/store/index.js';
import { runSteps } from '../../libs/outbox/src/store/run-steps.js';
import type { Step } from '../../libs/outbox/src/store/sql-client.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { noted, startOutboxApp, step } from '../support/outbox-app.js';
import { mustClaim, startOutboxQueue, tableNames } from '../support/outbox-queue.js';

const insert = (value: number): Step => ({
  statement: { name: 'insert-one', text: 'insert into one (value) values ($1) returning value' },
  values: [value],
});
const count: Step = { statement: { name: 'count', text: 'select count(*) from one' }, values: [] };

describe.each([
  ['sends statements at once', true],
  ['waits for each answer, as node-postgres before 8.23', false],
])('steps on a connection that %s', (_, pipeline) => {
  let database: TestDatabase;
  let client: pg.Client;
  beforeAll(async () => {
    database = await createTestDatabase();
    client = new pg.Client({ connectionString: database.url, pipeline });
    await client.connect();
    await client.query('create table one (value integer primary key)');
  });
  afterAll(async () => {
    await client.end();
    await database.drop();
  });

  it('see what the ones before them did, and answer each as text', async () => {
    const [inserted, counted] = await runSteps(client, [insert(1), count], { isPrepared: true });
    expect([inserted, counted]).toEqual([
      { rows: [['1']], count: 1 },
      { rows: [['1']], count: 1 },
    ]);
  });

  it('are done all or not at all', async () => {
    const failing = runSteps(client, [insert(2), insert(1), insert(3)], { isPrepared: true });
    await expect(failing).rejects.toMatchObject({ code: '23505' });
    await client.query('rollback');
    expect(await database.query('select value from one')).toEqual([{ value: 1 }]);
  });
});

describe('the connections of a dispatcher', () => {
  let database: TestDatabase;
  let dataSource: DataSource;
  beforeAll(async () => {
    database = await createTestDatabase();
    dataSource = await new DataSource({
      type: 'postgres',
      url: database.url,
      extra: { options: '-c default_transaction_isolation=serializable' },
    }).initialize();
  });
  afterAll(async () => {
    await dataSource.destroy();
    await database.drop();
  });

  const preparedOn = async (preparesStatements: boolean): Promise<unknown[]> => {
    const pool = new DispatcherPool(dataSource, { size: 1, preparesStatements, onIdleError: () => undefined });
    try {
      await pool.execute([{ statement: { name: 'outbox-one', text: 'select 1' }, values: [] }]);
      const { rows } = await pool.query('select name from pg_prepared_statements', []);
      return rows.map(({ name }) => name);
    } finally {
      await pool.close();
    }
  };

  it('keep their statements prepared, unless that is switched off', async () => {
    expect(await preparedOn(true)).toEqual(['outbox-one']);
    expect(await preparedOn(false)).toEqual([]);
  });

  it('plan for index lookups, once, and read what is committed, whatever the application prefers', async () => {
    const pool = new DispatcherPool(dataSource, { size: 1, preparesStatements: true, onIdleError: () => undefined });
    const { rows } = await pool.query(
      `select current_setting('plan_cache_mode') as plans, current_setting('enable_seqscan') as scans,
        current_setting('enable_hashjoin') as joins, current_setting('transaction_isolation') as isolation`,
      [],
    );
    await pool.close();
    expect(rows).toEqual([{ plans: 'force_generic_plan', scans: 'off', joins: 'off', isolation: 'read committed' }]);
  });
});

describe('the rows of a claim', () => {
  it('are read in whatever order the plan of the day makes them come', async () => {
    const queue = await startOutboxQueue();
    try {
      const [first, ...others] = await queue.emitOrdered('o', 3);
      const pool = new DispatcherPool(queue.dataSource, {
        size: 1,
        preparesStatements: true,
        onIdleError: () => undefined,
      });
      const backwards = {
        query: pool.query.bind(pool),
        execute: async (steps: readonly Step[]) =>
          (await pool.execute(steps)).map(({ rows, count: of }) => ({ rows: rows.toReversed(), count: of })),
      };
      const store = Object.assign(new PostgresDeliveryStore(backwards, tableNames, 'delete'), {
        breakers: queue.openStore().breakers,
      });
      const claim = await mustClaim(store);
      await pool.close();
      expect(claim.deliveries.map(({ envelope }) => envelope?.id)).toEqual([first, ...others]);
      expect(Number(claim.token)).toBeGreaterThan(0);
    } finally {
      await queue.close();
    }
  });
});

describe('a loop that would poll once an hour', () => {
  it.each([
    ['unordered', (): object => noted(randomUUID())],
    ['ordered', (): object => step('retried', 1)],
  ])('tries an event again as soon as it is due: %s', async (_, event) => {
    const attempts: number[] = [];
    const memory = new MemoryTransport({
      respond: (_event, attempt) => {
        attempts.push(attempt);
        return attempt < 3 ? { kind: 'retry', error: 'not yet' } : { kind: 'delivered' };
      },
    });
    const app = await startOutboxApp({
      memory,
      outbox: {
        destinations: { memory: { transport: memory, retryBaseMs: 50, retryCapMs: 100 } },
        dispatcher: { schedule: 'loop', wakeUp: false, pollIntervalMs: 3_600_000 },
      },
    });
    try {
      await app.outbox.transaction(() => app.outbox.emit(event()));
      await memory.waitForCount(1, 20_000);
      expect(attempts).toEqual([1, 2, 3]);
    } finally {
      await app.close();
    }
  });

  it('tries two events that were deferred for different times, each at its own', async () => {
    const delays = [100, 400];
    const deferred = new Set<string>();
    const memory = new MemoryTransport({
      respond: ({ envelope }) => {
        const { amountCents } = envelope.payload as { amountCents: number };
        if (deferred.has(envelope.id)) return { kind: 'delivered' };
        deferred.add(envelope.id);
        return { kind: 'defer', reason: 'not yet', delayMs: delays[amountCents - 1] ?? 0 };
      },
    });
    const app = await startOutboxApp({
      memory,
      outbox: { dispatcher: { schedule: 'loop', wakeUp: false, pollIntervalMs: 3_600_000 } },
    });
    try {
      await app.outbox.transaction(() => app.outbox.emit([noted(randomUUID(), 1), noted(randomUUID(), 2)]));
      await memory.waitForCount(2, 20_000);
    } finally {
      await app.close();
    }
  });
});
