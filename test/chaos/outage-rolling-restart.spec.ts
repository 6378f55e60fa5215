import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ChildProgram } from '../support/child-process.js';
import { receivedIds, startDispatcherProcess } from '../support/dispatcher-process.js';
import { eventually } from '../support/eventually.js';
import { type OutboxQueue, startOutboxQueue } from '../support/outbox-queue.js';
import { type RecordingServer, startRecordingServer } from '../support/recording-server.js';
import { rememberAttempts } from './outage-attempts.js';

const PROCESSES = 3;
const ROUNDS = 2;
const PATIENT = { timeoutMs: 60_000 };

describe('three dispatcher processes that are restarted one after the other, twice', { timeout: 180_000 }, () => {
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

  // A lease this long would be seen: what a process kept to its end would be missing.
  const start = (): Promise<ChildProgram> =>
    startDispatcherProcess(queue.database, receiver, { LEASE_MS: 3_600_000, BATCH_SIZE: 10, GRACE_MS: 60_000 });

  it('under constant emits lose nothing, leave nothing, send nothing twice and waste no attempt', async () => {
    const { finished } = await rememberAttempts(queue.database);
    const aggregates = Array.from({ length: 4 }, () => randomUUID());
    const ordered = new Map<string, string[]>(aggregates.map((aggregate) => [aggregate, []]));
    const emitted: string[] = [];
    const isDone = new AbortController();
    const emitConstantly = async (): Promise<void> => {
      for (let turn = 0; !isDone.signal.aborted; turn += 1) {
        const aggregate = aggregates[turn % aggregates.length] ?? '';
        const ids = await queue.emitOrdered(aggregate, 2);
        ordered.get(aggregate)?.push(...ids);
        emitted.push(...ids, ...(await queue.emitUnordered(2)));
        // No faster than they are delivered, so that something is always on its way and nothing piles up.
        const isKeepingUp = (): void => expect(emitted.length - receiver.requests.length).toBeLessThan(12);
        await eventually(isKeepingUp, { ...PATIENT, intervalMs: 50 });
      }
    };

    const children = await Promise.all(Array.from({ length: PROCESSES }, start));
    const emitting = emitConstantly();
    for (let restart = 0; restart < ROUNDS * PROCESSES; restart += 1) {
      const before = receiver.requests.length;
      await eventually(() => expect(receiver.requests.length).toBeGreaterThan(before + 10), PATIENT);
      const [successor] = await Promise.all([start(), children[restart % PROCESSES]?.kill('SIGTERM')]);
      children[restart % PROCESSES] = successor;
    }
    isDone.abort();
    await emitting;
    await eventually(async () => expect(await queue.deliveries()).toEqual([]), PATIENT);
    await Promise.all(children.map((child) => child.kill('SIGTERM')));

    expect(receivedIds(receiver).toSorted()).toEqual(emitted.toSorted());
    for (const [aggregate, ids] of ordered)
      expect(
        receivedIds(receiver).filter((id) => ids.includes(id)),
        aggregate,
      ).toEqual(ids);
    const attempts = (await finished()).map((one) => one.attempts);
    expect(attempts).toHaveLength(emitted.length);
    expect(new Set(attempts)).toEqual(new Set([1]));
  });
});
