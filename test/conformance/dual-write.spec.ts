import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { PATHS, type Path } from '../processes/dual-write-path.js';
import { startChild } from '../support/child-process.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { startDispatcherProcess } from '../support/dispatcher-process.js';
import { eventually } from '../support/eventually.js';
import { startOutboxApp } from '../support/outbox-app.js';
import { type RecordingServer, startRecordingServer } from '../support/recording-server.js';

const program = (name: string): URL => new URL(`../processes/dist/dual-write-${name}.js`, import.meta.url);

/** Undefined for a process that a signal ended. */
const EXIT_CODES: Record<'naive' | 'outbox', Record<Path, number | undefined>> = {
  naive: {
    normal: 0,
    'crash-after-commit': undefined,
    'receiver-down': 1,
    'rollback-after-send': 0,
    'crash-after-send': undefined,
  },
  outbox: {
    normal: 0,
    'crash-after-commit': undefined,
    'receiver-down': 0,
    'rollback-after-send': 0,
    'crash-after-send': undefined,
  },
};

/** The orders that the database has, those that the receiver was told of, and where the two disagree. */
interface Figures {
  readonly orders: number;
  readonly shipments: number;
  /** Shipped, but not ordered. */
  readonly ghosts: readonly Path[];
  /** Ordered, but never shipped. */
  readonly missing: readonly Path[];
}

describe('an order on each of five paths: normal, crash after commit, receiver down, rollback and crash after the send', () => {
  let database: TestDatabase;
  let receiver: RecordingServer;
  let ids: Map<Path, string>;
  let finish: (() => Promise<unknown>)[];
  beforeEach(async () => {
    finish = [];
    ids = new Map(PATHS.map((path) => [path, randomUUID()]));
    database = await createTestDatabase();
    await database.query('create table orders (id uuid primary key)');
    receiver = await startRecordingServer();
  });
  afterEach(async () => {
    for (const end of finish) await end();
    await receiver.close();
    await database.drop();
  });

  /** Resolves when the process has ended as its path says. */
  const place = async (how: 'naive' | 'outbox', path: Path): Promise<void> => {
    const child = startChild(program(how), {
      env: {
        DATABASE: database.url,
        RECEIVER: receiver.url,
        DUAL_WRITE_PATH: path,
        ORDER_ID: ids.get(path) ?? '',
        NO_COLOR: '1',
      },
    });
    expect([path, await child.exited, child.lines.join('\n')]).toEqual([
      path,
      EXIT_CODES[how][path],
      expect.any(String),
    ]);
  };
  const placeOthers = async (how: 'naive' | 'outbox'): Promise<void> => {
    const others = PATHS.filter((path) => path !== 'receiver-down');
    await Promise.all(others.map((path) => place(how, path)));
  };
  const receiverGoes = (): Promise<void> => receiver.close();
  const receiverComesBack = async (): Promise<void> => {
    receiver = await startRecordingServer(undefined, Number(new URL(receiver.url).port));
  };
  const figures = async (): Promise<Figures> => {
    const ordered = new Set((await database.query<{ id: string }>('select id from orders')).map(({ id }) => id));
    const shipped = receiver.requests.map(({ body }) => /"orderId":"([^"]+)"/.exec(body.toString())?.[1] ?? '');
    const pathsOf = (matches: (id: string) => boolean): Path[] => PATHS.filter((path) => matches(ids.get(path) ?? ''));
    return {
      orders: ordered.size,
      shipments: shipped.length,
      ghosts: pathsOf((id) => shipped.includes(id) && !ordered.has(id)),
      missing: pathsOf((id) => ordered.has(id) && !shipped.includes(id)),
    };
  };
  const makeOutboxTables = async (): Promise<void> => (await startOutboxApp({ database })).close();

  it('naive: three orders and three shipments, two of them of no order, and two orders without one', async () => {
    await receiverGoes();
    await place('naive', 'receiver-down');
    await receiverComesBack();
    await placeOthers('naive');
    expect(await figures()).toEqual({
      orders: 3,
      shipments: 3,
      ghosts: ['rollback-after-send', 'crash-after-send'],
      missing: ['crash-after-commit', 'receiver-down'],
    });
  });

  it('with the outbox: three orders and three shipments, and these are the same', async () => {
    await makeOutboxTables();
    const dispatcher = await startDispatcherProcess(database, receiver);
    finish.push(() => dispatcher.kill('SIGTERM'));
    await receiverGoes();
    await place('outbox', 'receiver-down');
    // The dispatcher has tried, and found nobody.
    await eventually(async () =>
      expect(await database.query('select 1 from outbox_destination where failures > 0')).toHaveLength(1),
    );
    await receiverComesBack();
    await placeOthers('outbox');
    await eventually(async () => expect(await database.query('select 1 from outbox_delivery')).toEqual([]), {
      timeoutMs: 25_000,
    });
    expect(await figures()).toEqual({ orders: 3, shipments: 3, ghosts: [], missing: [] });
    expect(await database.query('select 1 from outbox_event')).toHaveLength(3);
  });

  it('with the outbox, a process that is killed before its commit leaves neither the order nor the event', async () => {
    await makeOutboxTables();
    await place('outbox', 'crash-after-send');
    // PostgreSQL may take a moment to notice that the client is gone.
    await eventually(async () =>
      expect(
        await database.query(
          `select pid from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid() and xact_start is not null`,
        ),
      ).toEqual([]),
    );
    expect(await database.query('select 1 from orders')).toEqual([]);
    expect(await database.query('select 1 from outbox_event union all select 1 from outbox_delivery')).toEqual([]);
  });
});
