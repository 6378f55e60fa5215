import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { receivedIds, startDispatcherProcess } from '../support/dispatcher-process.js';
import { eventually } from '../support/eventually.js';
import { noted, step } from '../support/outbox-app.js';
import { type OutboxQueue, startOutboxQueue } from '../support/outbox-queue.js';
import { type RecordedAnswer, type RecordingServer, startRecordingServer } from '../support/recording-server.js';

describe('two dispatcher processes side by side', () => {
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

  const queueIsEmpty = (): Promise<void> =>
    eventually(async () => expect(await queue.deliveries()).toEqual([]), { timeoutMs: 25_000 });

  it('deliver 200 events once each, and both take part', async () => {
    const settings = { BATCH_SIZE: 5, LEASE_MS: 30_000 };
    const children = await Promise.all([
      startDispatcherProcess(queue.database, receiver, settings),
      startDispatcherProcess(queue.database, receiver, settings),
    ]);
    const emitted = await queue.emitUnordered(200);
    await queueIsEmpty();
    await Promise.all(children.map((child) => child.kill('SIGTERM')));
    expect(receivedIds(receiver).toSorted()).toEqual(emitted.toSorted());
    for (const child of children) expect(child.lines.some((line) => line.startsWith('published'))).toBe(true);
  });

  it('one of them stopped past its lease and woken again: it completes nothing, reorders nothing, and says so', async () => {
    let hang: ((answer: RecordedAnswer) => void) | undefined;
    receiver.answerWith((_, index) =>
      index > 0 ? { status: 204 } : new Promise<RecordedAnswer>((resolve) => (hang = resolve)),
    );
    const stopped = await startDispatcherProcess(queue.database, receiver);
    // One claim: the aggregate first, one after the other, then the three that belong to nobody.
    const emitted = await queue.emit(step('o', 1), step('o', 2), ...[1, 2, 3].map(() => noted(randomUUID())));
    await eventually(() => expect(receiver.requests).toHaveLength(1));
    process.kill(stopped.pid, 'SIGSTOP');
    hang?.({ status: 204 });

    const successor = await startDispatcherProcess(queue.database, receiver);
    await queueIsEmpty();
    const [late] = await queue.emitOrdered(randomUUID(), 1);
    await queueIsEmpty();
    process.kill(stopped.pid, 'SIGCONT');
    await stopped.waitForLine(/lease lost/);
    expect(stopped.lines.filter((line) => line.startsWith('publish'))).toEqual([`publishing ${emitted[0]}`]);
    expect(receivedIds(receiver)).toEqual([emitted[0], ...emitted, late]);
    await Promise.all([stopped.kill('SIGTERM'), successor.kill('SIGTERM')]);
    expect(receivedIds(receiver)).toEqual([emitted[0], ...emitted, late]);
  });
});
