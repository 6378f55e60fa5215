import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ChildProgram } from '../support/child-process.js';
import { receivedIds, startDispatcherProcess } from '../support/dispatcher-process.js';
import { eventually } from '../support/eventually.js';
import { mustClaim, type OutboxQueue, startOutboxQueue, tryClaim } from '../support/outbox-queue.js';
import { type RecordedAnswer, type RecordingServer, startRecordingServer } from '../support/recording-server.js';

const OK: RecordedAnswer = { status: 204 };

describe('a dispatcher process that is told to end with SIGTERM', () => {
  let queue: OutboxQueue;
  let receiver: RecordingServer;
  let answer: (answer: RecordedAnswer) => void;
  beforeEach(async () => {
    queue = await startOutboxQueue();
    const answered = new Promise<RecordedAnswer>((resolve) => {
      answer = resolve;
    });
    receiver = await startRecordingServer(() => answered);
  });
  afterEach(async () => {
    answer(OK);
    await receiver.close();
    await queue.close();
  });

  /** It has claimed everything that is there (two claims at once would share it) and is sending the first two. */
  const startSending = async (graceMs: number, batchesInFlight = 1): Promise<ChildProgram> => {
    const settings = { CONCURRENCY: 2, LEASE_MS: 60_000, GRACE_MS: graceMs, BATCHES_IN_FLIGHT: batchesInFlight };
    const child = await startDispatcherProcess(queue.database, receiver, settings);
    await eventually(() => expect(receiver.requests).toHaveLength(2));
    return child;
  };
  it('finishes and records what it is sending, gives back the rest at once, unspent, and ends within the grace', async () => {
    await queue.emitUnordered(10);
    const child = await startSending(20_000);
    process.kill(child.pid, 'SIGTERM');
    await child.waitForLine(/^closing$/);
    const toldAt = performance.now();
    answer(OK);
    await child.exited;
    expect(performance.now() - toldAt).toBeLessThan(10_000);

    const left = await queue.deliveries();
    const sent = new Set(receivedIds(receiver));
    expect(receiver.requests).toHaveLength(2);
    expect(left).toHaveLength(8);
    expect(left.filter(({ eventId }) => sent.has(eventId))).toEqual([]);
    expect(left.every(({ status, attempts, hasLease }) => status === 0 && attempts === 0 && !hasLease)).toBe(true);
    expect((await mustClaim(queue.openStore())).deliveries).toHaveLength(8);
  });

  it('claims nothing more, while another process goes on', async () => {
    await queue.emitUnordered(2);
    const child = await startSending(20_000, 4);
    process.kill(child.pid, 'SIGTERM');
    await child.waitForLine(/^closing$/);
    const [late] = await queue.emitUnordered(1);
    const successor = await startDispatcherProcess(queue.database, receiver);
    await successor.waitForLine(new RegExp(`^publishing ${late}$`));
    answer(OK);
    await child.exited;
    expect(child.lines).not.toContain(`publishing ${late}`);
    await successor.kill('SIGTERM');
  });

  it('with a grace shorter than a send ends in time; only what it was sending is sent again', async () => {
    const emitted = await queue.emitUnordered(10);
    const child = await startSending(300);
    const toldAt = performance.now();
    process.kill(child.pid, 'SIGTERM');
    await child.exited;
    expect(performance.now() - toldAt).toBeLessThan(10_000);

    const left = await queue.deliveries();
    const uncertain = new Set(receivedIds(receiver));
    expect(uncertain.size).toBe(2);
    expect(left).toHaveLength(10);
    for (const row of left) {
      expect(row.status).toBe(0);
      if (!uncertain.has(row.eventId)) expect(row).toMatchObject({ attempts: 0, hasLease: false });
    }
    answer(OK);
    await queue.expireLeases();
    await queue.makeDue();
    const successor = await startDispatcherProcess(queue.database, receiver, { CONCURRENCY: 4 });
    await eventually(async () => expect(await queue.deliveries()).toEqual([]));
    expect(receivedIds(receiver).slice(2).toSorted()).toEqual(emitted.toSorted());
    await successor.kill('SIGTERM');
  });

  it('three times in a row, each time replaced, loses nothing and leaves nothing behind', async () => {
    answer(OK);
    receiver.answerWith(() => ({ status: 204, delayMs: 5 }));
    const emitted = await queue.emitUnordered(100);
    for (let restart = 0; restart < 3; restart += 1) {
      const before = receiver.requests.length;
      const child = await startDispatcherProcess(queue.database, receiver, { LEASE_MS: 60_000, BATCH_SIZE: 30 });
      await eventually(() => expect(receiver.requests.length).toBeGreaterThan(before + 5));
      await child.kill('SIGTERM');
      expect((await queue.deliveries()).filter(({ hasLease }) => hasLease)).toEqual([]);
    }
    const last = await startDispatcherProcess(queue.database, receiver);
    await eventually(async () => expect(await queue.deliveries()).toEqual([]));
    await last.kill('SIGTERM');
    expect(receivedIds(receiver).toSorted()).toEqual(emitted.toSorted());
    expect(await tryClaim(queue.openStore())).toBeUndefined();
  });
});
