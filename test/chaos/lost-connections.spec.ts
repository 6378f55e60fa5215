import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ChildProgram } from '../support/child-process.js';
import { letInAgain, shutOut } from '../support/database-access.js';
import { receivedIds, startDispatcherProcess } from '../support/dispatcher-process.js';
import { eventually } from '../support/eventually.js';
import { type OutboxQueue, startOutboxQueue } from '../support/outbox-queue.js';
import { type RecordingServer, startRecordingServer } from '../support/recording-server.js';

describe('a dispatcher process whose database sessions are all ended', () => {
  let queue: OutboxQueue;
  let receiver: RecordingServer;
  let child: ChildProgram;
  beforeEach(async () => {
    queue = await startOutboxQueue();
    receiver = await startRecordingServer();
    child = await startDispatcherProcess(queue.database, receiver, { CONCURRENCY: 2, BATCHES_IN_FLIGHT: 2 });
  });
  afterEach(async () => {
    await child.kill('SIGKILL');
    await receiver.close();
    await queue.close();
  });

  const endSessions = async (): Promise<number> => {
    const ended = await queue.database.query(
      `select pg_terminate_backend(pid) from pg_stat_activity
       where datname = current_database() and application_name like 'dispatcher%'`,
    );
    return ended.length;
  };
  const allArrive = (ids: readonly string[]): Promise<void> =>
    eventually(() => expect(new Set(receivedIds(receiver))).toEqual(new Set(ids)), { timeoutMs: 20_000 });
  const livesOn = async (): Promise<void> => {
    const emitted = await queue.emitUnordered(3);
    await eventually(() => expect(receivedIds(receiver)).toEqual(expect.arrayContaining(emitted)));
    expect(child.exitCode).toBeUndefined();
    expect(child.lines.filter((line) => /unhandledRejection|uncaughtException/.test(line))).toEqual([]);
  };

  it('while it is idle lives on and delivers what comes next', async () => {
    for (let round = 0; round < 3; round += 1) {
      await eventually(async () => expect(await endSessions()).toBeGreaterThan(0));
      await livesOn();
    }
  });

  it('in the middle of a batch lives on and delivers everything', async () => {
    let isFirst = true;
    receiver.answerWith(async () => {
      if (isFirst) {
        isFirst = false;
        await endSessions();
      }
      return { status: 204 };
    });
    const emitted = await queue.emitUnordered(40);
    await allArrive(emitted);
    await eventually(async () => expect(await queue.deliveries()).toEqual([]));
    await livesOn();
  });

  it('over and over while it works loses nothing', async () => {
    receiver.answerWith(async (_, index) => {
      if (index % 25 === 0) await endSessions();
      return { status: 204, delayMs: 2 };
    });
    const emitted: string[] = [];
    for (let round = 0; round < 5; round += 1) emitted.push(...(await queue.emitUnordered(40)));
    await allArrive(emitted);
    receiver.answerWith(() => ({ status: 204 }));
    await eventually(async () => expect(await queue.deliveries()).toEqual([]), { timeoutMs: 20_000 });
    await livesOn();
  });

  it('and who is not let in for a while says so, goes on by itself, and says that too', async () => {
    await shutOut(queue.database);
    await child.waitForLine(/outbox database unavailable/);
    await letInAgain(queue.database);
    await livesOn();
    expect(child.lines.filter((line) => line.includes('outbox database unavailable'))).toHaveLength(1);
    expect(child.lines.filter((line) => line.includes('outbox database available again'))).toHaveLength(1);
  });
});
