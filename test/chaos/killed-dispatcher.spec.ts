import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startChild } from '../support/child-process.js';
import {
  commitAndDieProgram,
  environmentOf,
  receivedIds,
  startDispatcherProcess,
} from '../support/dispatcher-process.js';
import { eventually } from '../support/eventually.js';
import { type OutboxQueue, startOutboxQueue } from '../support/outbox-queue.js';
import { type RecordingServer, startRecordingServer } from '../support/recording-server.js';

describe('a dispatcher process that is killed with SIGKILL', () => {
  let queue: OutboxQueue;
  let receiver: RecordingServer;
  beforeEach(async () => {
    queue = await startOutboxQueue();
    receiver = await startRecordingServer();
  });
  afterEach(async () => {
    await receiver.close();
    await queue.close();
  });

  /** Its lease ends two seconds later. */
  const killBeforePublish = async (nth: number): Promise<void> => {
    const doomed = await startDispatcherProcess(queue.database, receiver, { PAUSE_BEFORE: nth, LEASE_MS: 2000 });
    await doomed.waitForLine(/^pausing$/);
    await doomed.kill('SIGKILL');
  };
  const queueIsEmpty = (): Promise<void> =>
    eventually(async () => expect(await queue.deliveries()).toEqual([]), { timeoutMs: 20_000 });

  it('after it published 3 of 5 and before it recorded them: 8 arrive, 5 different ones, under the same ids', async () => {
    const emitted = await queue.emitUnordered(5);
    await killBeforePublish(4);
    const before = receivedIds(receiver);
    expect(before).toHaveLength(3);
    expect(await queue.deliveries()).toHaveLength(5);

    const successor = await startDispatcherProcess(queue.database, receiver);
    await queueIsEmpty();
    expect(receivedIds(receiver)).toHaveLength(8);
    expect(new Set(receivedIds(receiver))).toEqual(new Set(emitted));
    expect(receivedIds(receiver).slice(3).toSorted()).toEqual(emitted.toSorted());
    await successor.kill('SIGTERM');
  });

  it('in the middle of an aggregate: its successor goes on in order, from the first that was not recorded', async () => {
    const emitted = await queue.emitOrdered(randomUUID(), 5);
    await killBeforePublish(3);
    const successor = await startDispatcherProcess(queue.database, receiver);
    await queueIsEmpty();
    expect(receivedIds(receiver)).toEqual([...emitted.slice(0, 2), ...emitted]);
    await successor.kill('SIGTERM');
  });

  it('after its claim and before it published anything: everything is delivered later, once', async () => {
    const emitted = await queue.emitUnordered(5);
    await killBeforePublish(1);
    expect(receiver.requests).toEqual([]);

    const successor = await startDispatcherProcess(queue.database, receiver);
    await queueIsEmpty();
    expect(receivedIds(receiver).toSorted()).toEqual(emitted.toSorted());
    await successor.kill('SIGTERM');
  });
});

describe('an application that is killed', () => {
  let queue: OutboxQueue;
  let receiver: RecordingServer;
  beforeEach(async () => {
    queue = await startOutboxQueue();
    receiver = await startRecordingServer();
  });
  afterEach(async () => {
    await receiver.close();
    await queue.close();
  });

  it('right after its COMMIT has its events delivered by another process', async () => {
    receiver.answerWith(() => 'hang');
    const env = { ...environmentOf(queue.database, receiver), EVENTS: '4' };
    const dead = startChild(commitAndDieProgram, { env });
    expect(await dead.exited).toBeUndefined();
    const [, ids = ''] = /^emitted (.*)$/m.exec(dead.lines.join('\n')) ?? [];

    receiver.answerWith(() => ({ status: 204 }));
    await queue.expireLeases();
    const successor = await startDispatcherProcess(queue.database, receiver);
    await eventually(() => expect(new Set(receivedIds(receiver))).toEqual(new Set(ids.split(' '))));
    await successor.kill('SIGTERM');
  });

  it('in its transaction leaves no event', async () => {
    const env = { ...environmentOf(queue.database, receiver), EVENTS: '4', WHEN: 'before' };
    const dead = startChild(commitAndDieProgram, { env });
    expect(await dead.exited).toBeUndefined();
    expect(dead.lines.some((line) => line.startsWith('emitted'))).toBe(true);
    expect(await queue.database.query('select id from outbox_event')).toEqual([]);
    expect(await queue.deliveries()).toEqual([]);
  });
});
