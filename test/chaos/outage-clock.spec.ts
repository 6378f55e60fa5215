import { randomUUID } from 'node:crypto';
import { RetentionService } from 'nestjs-transactional-outbox';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type ChildProgram, startChild } from '../support/child-process.js';
import {
  type DispatcherSettings,
  dispatcherProgram,
  environmentOf,
  receivedIds,
} from '../support/dispatcher-process.js';
import { eventually } from '../support/eventually.js';
import { type OutboxQueue, startOutboxQueue } from '../support/outbox-queue.js';
import { type RecordingServer, startRecordingServer } from '../support/recording-server.js';

const TEN_MINUTES_MS = 600_000;
const emitterProgram = new URL('../processes/dist/crash-emitter.js', import.meta.url);

describe('applications whose clocks are ten minutes off, one ahead and one behind', { timeout: 60_000 }, () => {
  let queue: OutboxQueue;
  let receiver: RecordingServer;
  beforeEach(async () => {
    queue = await startOutboxQueue();
    receiver = await startRecordingServer();
  });
  afterEach(async () => {
    vi.useRealTimers();
    await receiver.close();
    await queue.close();
  });

  const startWithClock = (program: URL, shiftMs: number, env: Readonly<Record<string, string>>): ChildProgram => {
    const preload = `--import=${new URL('../processes/dist/crash-clock.js', import.meta.url).href}`;
    return startChild(program, { env: { ...env, NODE_OPTIONS: preload, CLOCK_SHIFT_MS: String(shiftMs) } });
  };
  const startDispatcher = async (shiftMs: number, settings: DispatcherSettings): Promise<ChildProgram> => {
    const child = startWithClock(dispatcherProgram, shiftMs, environmentOf(queue.database, receiver, settings));
    await child.waitForLine(/^ready$/, 30_000);
    return child;
  };
  const emitOrdered = async (shiftMs: number, aggregate: string): Promise<string[]> => {
    const child = startWithClock(emitterProgram, shiftMs, { DATABASE: queue.database.url, AGGREGATE: aggregate });
    const line = await child.waitForLine(/^emitted /, 30_000);
    await child.exited;
    return line.split(' ').slice(1);
  };
  /** The clock of this process, of which only the time of day is wrong. */
  const setClock = (shiftMs: number): void => {
    vi.useRealTimers();
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + shiftMs });
  };

  it('respect a lease for as long as the database says, whoever gave it', async () => {
    for (const shiftMs of [TEN_MINUTES_MS, -TEN_MINUTES_MS]) {
      const [held] = await queue.emitUnordered(1);
      const holder = await startDispatcher(shiftMs, { LEASE_MS: 60_000, PAUSE_BEFORE: 1 });
      await holder.waitForLine(/^pausing$/);
      const [lease] = await queue.database.query<{ seconds: number }>(
        'select extract(epoch from lease_until - clock_timestamp())::float8 as seconds from outbox_delivery',
      );
      expect(lease?.seconds).toBeGreaterThan(0);
      expect(lease?.seconds).toBeLessThanOrEqual(60);

      const other = await startDispatcher(-shiftMs, { LEASE_MS: 60_000 });
      const [free] = await queue.emitUnordered(1);
      await eventually(() => expect(receivedIds(receiver)).toContain(free));
      expect(receivedIds(receiver)).not.toContain(held);
      await holder.kill('SIGKILL');
      await queue.expireLeases();
      await eventually(() => expect(receivedIds(receiver)).toContain(held));
      await other.kill('SIGTERM');
    }
  });

  it('keep the order of commit, by whichever clock it was written', async () => {
    const aggregate = randomUUID();
    const ids: string[] = [];
    for (const shiftMs of [TEN_MINUTES_MS, -TEN_MINUTES_MS, TEN_MINUTES_MS, -TEN_MINUTES_MS]) {
      ids.push(...(await emitOrdered(shiftMs, aggregate)));
    }
    expect(ids.toSorted(), 'ids carry the wrong time').not.toEqual(ids);
    const [ahead, behind] = await Promise.all([
      startDispatcher(TEN_MINUTES_MS, { BATCH_SIZE: 1, LEASE_MS: 60_000 }),
      startDispatcher(-TEN_MINUTES_MS, { BATCH_SIZE: 1, LEASE_MS: 60_000 }),
    ]);
    await eventually(async () => expect(await queue.deliveries()).toEqual([]));
    expect(receivedIds(receiver)).toEqual(ids);
    await Promise.all([ahead.kill('SIGTERM'), behind.kill('SIGTERM')]);
  });

  it('prune by the age in the database', async () => {
    const retention = queue.module.get(RetentionService);
    const [old, young] = await queue.emitUnordered(2);
    await queue.dispatcher.drain();
    await queue.database.query(`update outbox_event set created_at = now() - interval '6 minutes' where id = $1`, [
      old,
    ]);
    for (const shiftMs of [-TEN_MINUTES_MS, TEN_MINUTES_MS]) {
      setClock(shiftMs);
      await retention.prune({ olderThanMs: TEN_MINUTES_MS / 2 });
      expect(await queue.database.query('select id from outbox_event')).toEqual([{ id: young }]);
    }
  });
});
