import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type ChildProgram, startChild } from '../support/child-process.js';
import { receivedIds } from '../support/dispatcher-process.js';
import { eventually } from '../support/eventually.js';
import { type OutboxQueue, startOutboxQueue } from '../support/outbox-queue.js';
import { type RecordingServer, startRecordingServer } from '../support/recording-server.js';
import { closeDoor } from './outage-closed-door.js';
import { type RestartablePostgres, startRestartablePostgres } from './outage-postgres.js';

const PATIENT = { timeoutMs: 60_000 };

describe('a dispatcher process that does nothing between two polls, while PostgreSQL crashes and comes back', () => {
  let postgres: RestartablePostgres;
  let queue: OutboxQueue;
  let receiver: RecordingServer;
  let child: ChildProgram;
  beforeEach(async () => {
    postgres = await startRestartablePostgres();
    queue = await startOutboxQueue({ database: postgres.database });
    receiver = await startRecordingServer();
    child = startChild(new URL('../processes/dist/crash-idle-dispatcher.js', import.meta.url), {
      env: { DATABASE: postgres.database.url, RECEIVER: receiver.url, NO_COLOR: '1' },
    });
    await child.waitForLine(/^ready$/, 30_000);
  });
  afterEach(async () => {
    await child.kill('SIGKILL');
    await receiver.close();
    await queue.close();
    await postgres.close();
  });

  const isListening = (): Promise<void> =>
    eventually(async () => expect(await statesOf('dispatcher:outbox-listen')).toEqual(['idle']), PATIENT);
  /** Its last look found nothing, and it keeps connections. */
  const isIdle = (): Promise<void> =>
    eventually(async () => expect(new Set(await statesOf('dispatcher:outbox'))).toEqual(new Set(['idle'])), PATIENT);
  const statesOf = async (application: string): Promise<string[]> => {
    const sessions = 'select state from pg_stat_activity where application_name = $1';
    return (await postgres.database.query<{ state: string }>(sessions, [application])).map(({ state }) => state);
  };
  const isDelivered = async (ids: readonly string[]): Promise<void> => {
    await eventually(() => expect(receivedIds(receiver)).toEqual(expect.arrayContaining([...ids])), PATIENT);
    await eventually(async () => expect(await queue.deliveries()).toEqual([]), PATIENT);
  };
  const said = (phrase: RegExp): number => child.lines.filter((line) => phrase.test(line)).length;

  it('loses its idle connections without harm, listens again by itself, and looks for what it missed', async () => {
    await isListening();
    await isDelivered(await queue.emitUnordered(1));
    await isIdle();
    await postgres.crash();
    const door = await closeDoor(postgres.port);
    await door.untilKnocks(3, child);
    await door.open();
    await postgres.start();

    // Whether it listens by now or not: nobody polls within an hour.
    await isDelivered(await queue.emitUnordered(1));
    await isListening();
    await isDelivered(await queue.emitUnordered(1));
    expect(child.exitCode).toBeUndefined();
    expect(said(/unhandledRejection|uncaughtException/)).toBe(0);
    expect(said(/wake-up connection lost/)).toBe(1);
    // One or more connections of its pool of three were idle.
    expect(said(/dispatcher connection lost/)).toBeGreaterThan(0);
    expect(said(/WARN|ERROR/)).toBeLessThanOrEqual(1 + 3);
  }, 120_000);
});
