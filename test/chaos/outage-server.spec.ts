import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { ChildProgram } from '../support/child-process.js';
import { type DispatcherSettings, receivedIds, startDispatcherProcess } from '../support/dispatcher-process.js';
import { eventually } from '../support/eventually.js';
import { type OutboxQueue, startOutboxQueue } from '../support/outbox-queue.js';
import { type RecordingServer, startRecordingServer } from '../support/recording-server.js';
import { rememberAttempts } from './outage-attempts.js';
import { closeDoor } from './outage-closed-door.js';
import { type RestartablePostgres, startRestartablePostgres } from './outage-postgres.js';

const PATIENT = { timeoutMs: 60_000 };

describe('a dispatcher process whose PostgreSQL crashes and comes back seconds later', { timeout: 120_000 }, () => {
  let postgres: RestartablePostgres;
  let queue: OutboxQueue;
  let receiver: RecordingServer;
  let child: ChildProgram;
  let attempts: Awaited<ReturnType<typeof rememberAttempts>>;
  beforeAll(async () => {
    postgres = await startRestartablePostgres();
    queue = await startOutboxQueue({ database: postgres.database });
    attempts = await rememberAttempts(postgres.database);
  });
  afterAll(async () => {
    await queue.close();
    await postgres.close();
  });
  beforeEach(async () => {
    receiver = await startRecordingServer();
  });
  afterEach(async () => {
    await child.kill('SIGKILL');
    await receiver.close();
  });

  const start = async (settings: DispatcherSettings): Promise<void> => {
    child = await startDispatcherProcess(postgres.database, receiver, settings);
    await eventually(async () => expect(await listeners()).toHaveLength(1), PATIENT);
  };
  const listeners = (): Promise<{ pid: number }[]> =>
    postgres.database.query(
      `select pid from pg_stat_activity where application_name = 'dispatcher:outbox-listen' and query like 'listen%'`,
    );
  /** PostgreSQL has crashed; it comes back some seconds later, when the dispatcher has tried so often to connect. */
  const sitOut = async (knocks: number): Promise<void> => {
    const startedAt = performance.now();
    const door = await closeDoor(postgres.port);
    await door.untilKnocks(knocks, child);
    const tries = door.knocks / ((performance.now() - startedAt) / 50);
    await door.open();
    await postgres.start();
    expect(tries, 'tries to connect in one poll interval').toBeLessThan(3);
  };
  const arrived = (ids: readonly string[]): Promise<void> =>
    eventually(() => expect(receivedIds(receiver)).toEqual(expect.arrayContaining([...ids])), PATIENT);
  /** @param besides lines that have another reason. */
  const expectCalm = async (besides = 0): Promise<void> => {
    const said = (phrase: RegExp): number => child.lines.filter((line) => phrase.test(line)).length;
    await child.waitForLine(/outbox database available again/);
    await eventually(async () => expect(await listeners()).toHaveLength(1), PATIENT);
    expect(child.exitCode).toBeUndefined();
    expect(said(/unhandledRejection|uncaughtException/)).toBe(0);
    expect(said(/outbox database unavailable/)).toBe(1);
    expect(said(/outbox database available again/)).toBe(1);
    expect(said(/wake-up connection lost/)).toBe(1);
    // Each connection of its pool may have been idle.
    expect(said(/WARN|ERROR/)).toBeLessThanOrEqual(2 + 3 + besides);
    await eventually(async () => expect(await queue.deliveries()).toEqual([]), PATIENT);
  };

  it('while it is idle: it goes on by itself, with another listening connection', async () => {
    await start({});
    const [before] = await listeners();
    await postgres.crash();
    await sitOut(60);
    await arrived(await queue.emitUnordered(3));
    await expectCalm();
    expect(await listeners()).not.toEqual([before]);
  });

  it('during its claim: the claim is undone with its attempt, and everything is delivered once', async () => {
    const ids = await queue.emitUnordered(3);
    const blocker = new pg.Client(postgres.database.url);
    blocker.on('error', () => undefined); // it goes down with the server
    await blocker.connect();
    await blocker.query('begin');
    await blocker.query('lock table outbox_delivery in share mode');
    await start({});
    const waiting = `select pid from pg_stat_activity where application_name = 'dispatcher:outbox' and wait_event_type = 'Lock'`;
    await eventually(async () => expect(await postgres.database.query(waiting)).not.toEqual([]), PATIENT);
    await postgres.crash();
    await sitOut(60);
    await arrived(ids);
    await expectCalm();
    expect(receivedIds(receiver).toSorted()).toEqual(ids.toSorted());
    const finished = await attempts.finished();
    expect(finished.filter(({ eventId }) => ids.includes(eventId)).map((one) => one.attempts)).toEqual([1, 1, 1]);
  });

  /** The server crashes while the fourth of ten events is being sent; the rest of the batch needs no database. */
  const crashInBatch = async (): Promise<readonly string[]> => {
    receiver.answerWith(async (_, index) => {
      // Whoever commits waits until everything before it is on the disk: the claim is not to be lost.
      if (index === 3) await postgres.database.query('create table if not exists on_disk (); drop table on_disk');
      if (index === 3) await postgres.crash();
      return { status: 204 };
    });
    const ids = await queue.emitUnordered(10);
    await arrived(ids);
    await sitOut(8);
    return ids;
  };

  it('in a batch, before the lease ends: its outcomes are recorded late, and nothing is sent twice', async () => {
    await start({ LEASE_MS: 3_600_000 });
    const ids = await crashInBatch();
    await expectCalm();
    expect(receivedIds(receiver).toSorted()).toEqual(ids.toSorted());
  });

  it('in a batch, for longer than the lease: it is sent again under the same ids, unless its outcomes are first', async () => {
    await start({ LEASE_MS: 1000 });
    const ids = await crashInBatch();
    await eventually(async () => expect(await queue.deliveries()).toEqual([]), PATIENT);
    expect(new Set(receivedIds(receiver))).toEqual(new Set(ids));
    const isSentAgain = receivedIds(receiver).length > 10;
    expect(child.lines.filter((line) => /lease lost/.test(line))).toHaveLength(isSentAgain ? 1 : 0);
    await expectCalm(1);
  });
});
