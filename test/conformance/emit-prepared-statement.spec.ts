import { randomUUID } from 'node:crypto';
import { DataSource, type EntityManager } from 'typeorm';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { resolveTables } from '../../libs/outbox/src/config/index.js';
import { outboxNames, PostgresEventStore, type StorableEvent } from '../../libs/outbox/src/store/index.js';
import type { TransactionTicket } from '../../libs/outbox/src/transaction/index.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { noted, Order, type OutboxApp, type OutboxAppOptions, startOutboxApp, step } from '../support/outbox-app.js';
import { mayLackPgBouncer, type PgBouncer, startPgBouncer } from '../support/pgbouncer.js';

const STORABLE: StorableEvent = {
  id: randomUUID(),
  type: 'tested',
  aggregateType: 'test',
  aggregateId: '1',
  payload: '{}',
  payloadBytes: 2,
  headers: '{}',
  version: 1,
  orderingKey: undefined,
  destinations: [],
};

interface Client {
  processID: number | null;
  release(): void;
}

describe('the statement of emit()', () => {
  let database: TestDatabase;
  const apps: OutboxApp[] = [];
  let bouncer: PgBouncer | undefined;
  beforeEach(async () => {
    database = await createTestDatabase();
  });
  afterEach(async () => {
    for (const app of apps.splice(0).reverse()) await app.close();
    await bouncer?.close();
    bouncer = undefined;
    await database.drop();
  });

  async function start(outbox: OutboxAppOptions['outbox'] = {}, url = database.url): Promise<OutboxApp> {
    const app = await startOutboxApp({ database: { ...database, url }, poolSize: 1, outbox });
    apps.push(app);
    return app;
  }

  const emitTimes = async ({ dataSource, outbox }: OutboxApp, count: number): Promise<void> => {
    for (let number = 1; number <= count; number += 1) {
      await dataSource.transaction((manager) => outbox.emit(manager, noted(randomUUID(), number)));
    }
  };

  /** How often each statement of emit() that is prepared on the one connection was executed. */
  const prepared = async ({ dataSource }: { dataSource: DataSource }): Promise<number[]> => {
    const rows = await dataSource.query<{ times: number }[]>(
      `select (generic_plans + custom_plans)::int as times from pg_prepared_statements where name like 'outbox_emit%' order by 1`,
    );
    return rows.map(({ times }) => times);
  };
  const stored = async (): Promise<number> => (await database.query('select 1 from outbox_event')).length;

  it('stays prepared on a connection that has run it once', async () => {
    const app = await start();
    await emitTimes(app, 1);
    expect(await prepared(app)).toEqual([]);
    await emitTimes(app, 10);
    expect(await prepared(app)).toEqual([10]);
    expect(await stored()).toBe(11);
  });

  it('is another one for ordered events', async () => {
    const app = await start();
    await app.dataSource.transaction(async (manager) => {
      for (let round = 0; round < 3; round += 1) {
        await app.outbox.emit(manager, [noted(randomUUID())]);
        await app.outbox.emit(manager, [step('1', 1), noted(randomUUID()), step('1', 2)]);
      }
    });
    expect(await prepared(app)).toEqual([2, 3]);
    const rows = await database.query(
      'select sequence::int from outbox_event where sequence is not null order by sequence',
    );
    expect(rows.map(({ sequence }) => sequence)).toEqual([1, 2, 3, 4, 5, 6]);
  });

  it('has a name of its own for each set of tables, because two outboxes may share a connection', async () => {
    const names: unknown[] = [];
    const ticket: TransactionTicket = {
      query: async (build) => {
        names.push(build(null).name);
        return { rows: [{ stored: 1 }] };
      },
    };
    for (const schema of ['public', 'other']) {
      const store = new PostgresEventStore(outboxNames(schema, resolveTables()), { preparesStatements: true });
      for (const orderingKey of [undefined, '7']) await store.insert(ticket, [{ ...STORABLE, orderingKey }]);
    }
    expect(new Set(names).size).toBe(4);
    expect(names).toEqual(names.map(() => expect.stringMatching(/^outbox_emit_[0-9a-f]{16}$/)));
  });

  it('is not prepared where the options say so', async () => {
    const app = await start({ preparedStatements: false });
    await emitTimes(app, 3);
    expect(await prepared(app)).toEqual([]);
    expect(await stored()).toBe(3);
  });

  it('is not prepared when another process runs it than the one of the handshake', async () => {
    const dataSource = new DataSource({ type: 'postgres', url: database.url, entities: [Order], poolSize: 1 });
    await dataSource.initialize();
    const { master } = dataSource.driver as unknown as { master: { connect(): Promise<Client> } };
    const client = await master.connect();
    client.processID = 1;
    client.release();
    const app = await startOutboxApp({ database, dataSource });
    apps.push(app);
    await emitTimes(app, 3);
    expect(await prepared(app)).toEqual([]);
    expect(await stored()).toBe(3);
  });

  it.each(['deallocate all', 'discard all'])(
    'is stored also on a connection that somebody cleared by %s',
    async (clear) => {
      const app = await start();
      await emitTimes(app, 3);
      expect(await prepared(app)).toEqual([2]);
      await app.dataSource.query(clear);
      await emitTimes(app, 3);
      expect(await prepared(app)).toEqual([]);
      expect(await stored()).toBe(6);
    },
  );

  it('is stored also when its own name is deallocated in the very transaction', async () => {
    const app = await start();
    await emitTimes(app, 3);
    await app.dataSource.transaction(async (manager: EntityManager) => {
      const [row] = await manager.query<{ name: string }[]>('select name from pg_prepared_statements');
      await Promise.all([manager.query(`deallocate ${row?.name}`), app.outbox.emit(manager, noted(randomUUID()))]);
    });
    expect(await stored()).toBe(4);
  });

  it('keeps its plan: an aggregate with a long list of events and one with a short list', async () => {
    const app = await start();
    for (const count of [1, 1, 1, 1, 1, 1, 1, 2000, 1]) {
      const events = Array.from({ length: count }, (_, number) => step('the one', number));
      await app.outbox.transaction(() => app.outbox.emit(events));
    }
    const [row] = await database.query('select max(sequence)::int as last, count(*)::int as count from outbox_event');
    expect(row).toEqual({ last: 2008, count: 2008 });
  });

  describe.skipIf(mayLackPgBouncer)('behind PgBouncer in transaction mode', () => {
    it('is not prepared, and every event is stored', async () => {
      bouncer = await startPgBouncer(
        database.url,
        'pool_mode = transaction\ndefault_pool_size = 3\nignore_startup_parameters = statement_timeout',
      );
      const emitters = await Promise.all([1, 2, 3].map(() => start({}, bouncer?.through(database.url))));
      for (let round = 0; round < 10; round += 1) await Promise.all(emitters.map((app) => emitTimes(app, 2)));
      expect(await stored()).toBe(60);
      for (const app of emitters) expect(await prepared(app)).toEqual([]);
    });
  });
});
