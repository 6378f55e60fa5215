import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { OutgoingEvent, PublishOutcome } from 'nestjs-transactional-outbox';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { delivered } from '../../libs/outbox/src/transports/index.js';
import { BareDispatcher } from '../support/bare-dispatcher.js';
import { dispatcherProgram, environmentOf } from '../support/dispatcher-process.js';
import { type OutboxQueue, startOutboxQueue } from '../support/outbox-queue.js';
import { type RecordingServer, startRecordingServer } from '../support/recording-server.js';

const LATE: readonly [string, PublishOutcome][] = [
  ['a success', delivered],
  ['a failure for good', { kind: 'dead', error: 'late' }],
  ['a failure for the moment', { kind: 'retry', error: 'late' }],
  ['a deferral', { kind: 'defer', reason: 'late', delayMs: 1 }],
];

describe('a dispatcher whose event loop was blocked past its lease, while another process took over', () => {
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

  /** Blocks this process until another one has claimed everything, and has died in the middle of its first publish. */
  const blockUntilTakenOver = (): void => {
    const settings = environmentOf(queue.database, receiver, { LEASE_MS: 3_600_000, DIE_BEFORE: 1 });
    const { signal, stderr } = spawnSync(process.execPath, [fileURLToPath(dispatcherProgram)], {
      env: { ...process.env, ...settings },
      encoding: 'utf8',
    });
    expect(stderr).toBe('');
    expect(signal).toBe('SIGKILL');
  };

  it.each(LATE)(
    'reports %s too late: it changes nothing, is said to be lost, and the rest is not sent',
    async (_, late) => {
      await queue.emitUnordered(2);
      await queue.emitOrdered('o', 2);
      const allRows = (): Promise<unknown> =>
        queue.database.query(
          'select d.*, l.lease_version as lane_token, l.lease_until as lane_until from outbox_delivery d left join outbox_lane l using (destination, lane) order by d.id',
        );
      let takenOver: unknown;
      const sent: string[] = [];
      const dispatcher = new BareDispatcher({
        store: queue.openStore(),
        leaseMs: 1000,
        publishTimeoutMs: 999,
        concurrency: 1,
        transport: {
          capabilities: { batch: false, keepsOrderPerKey: false, deduplicates: false },
          publish: async (batch: readonly OutgoingEvent[]) => {
            sent.push(...batch.map(({ envelope }) => envelope.id));
            if (sent.length === 1) {
              blockUntilTakenOver();
              takenOver = await allRows();
            }
            return batch.map(() => late);
          },
        },
      });
      expect(await dispatcher.dispatchOnce()).toMatchObject({ claimed: 4, leaseLost: 4 });
      expect(sent).toHaveLength(1);
      expect(await allRows()).toEqual(takenOver);
      expect((await queue.deliveries()).every(({ isLeased, attempts }) => isLeased && attempts === 2)).toBe(true);
      expect(dispatcher.logger.lines.filter((line) => line.startsWith('warn lease lost'))).toHaveLength(1);
    },
  );
});
