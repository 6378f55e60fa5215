import { DeadLetterService } from 'nestjs-transactional-outbox';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { byHand } from '../support/by-hand.js';
import type { ChildProgram } from '../support/child-process.js';
import { type DispatcherSettings, environmentOf } from '../support/dispatcher-process.js';
import { eventually } from '../support/eventually.js';
import { gate } from '../support/gate.js';
import { diedAt, startDoomed } from './crash-window-doomed.js';
import { type CrashScene, startCrashScene } from './crash-window-scene.js';

describe('a dispatcher process that is killed', { timeout: 60_000 }, () => {
  let scene: CrashScene;
  beforeAll(async () => {
    scene = await startCrashScene();
  });
  afterAll(() => scene.close());
  afterEach(async () => {
    scene.receiver.answerWith(scene.handOn);
    await scene.expectNothingElseChanged();
  });

  const start = (dieAt: string, settings: DispatcherSettings = {}): ChildProgram =>
    startDoomed(scene.queue.database, 'dispatcher', {
      dieAt,
      env: environmentOf(scene.queue.database, scene.receiver, { LEASE_MS: 60_000, ...settings }),
    });
  const leaseEndOf = async (ids: readonly string[]): Promise<unknown> => {
    const ends = await scene.queue.database.query<{ ends: string }>(
      'select lease_until::text as ends from outbox_delivery where event_id = any ($1::uuid[])',
      [ids],
    );
    return ends[0]?.ends;
  };
  const expectShippedOnce = async (ids: readonly string[]): Promise<void> => {
    expect((await scene.shipped(ids)).toSorted()).toEqual(ids.toSorted());
    expect(await scene.undone(ids)).toEqual([]);
  };

  describe('while a publish outlasts the lease', () => {
    /** The lease that the claim gave, and the one that was there when the process was dead. */
    const dieAt = async (point: string, ids: readonly string[]): Promise<readonly [unknown, unknown]> => {
      let given: unknown;
      scene.receiver.answerWith(async () => {
        given = await leaseEndOf(ids);
        return 'hang' as const;
      });
      await diedAt(scene.queue.database, start(point, { LEASE_MS: 2000 }), point);
      scene.receiver.answerWith(scene.handOn);
      expect(await scene.undone(ids)).toMatchObject([{ status: 0, attempts: 1, hasLease: true }]);
      return [given, await leaseEndOf(ids)];
    };
    const expectSentAgainAndShippedOnce = async (ids: readonly string[]): Promise<void> => {
      const isShipped = async (): Promise<void> => {
        await scene.deliver();
        await expectShippedOnce(ids);
      };
      await eventually(isShipped, { timeoutMs: 30_000 });
      expect(scene.sent(ids)).toHaveLength(2);
    };

    it('before it renewed the lease: it ends when the claim said, and the event is sent again', async () => {
      const ids = await scene.place(1);
      const [given, left] = await dieAt('before renewal', ids);
      expect(left).toEqual(given);
      await expectSentAgainAndShippedOnce(ids);
    });

    it('after it renewed the lease and before it saw the answer: it ends later, and the event is sent again', async () => {
      const ids = await scene.place(1);
      const [given, left] = await dieAt('after renewal', ids);
      expect(Date.parse(String(left))).toBeGreaterThan(Date.parse(String(given)));
      await expectSentAgainAndShippedOnce(ids);
    });
  });

  describe('while it is shutting down', () => {
    /** One of three is being sent when it is told to end, and is answered after that. */
    const dieAt = async (point: string): Promise<void> => {
      const told = gate();
      scene.receiver.answerWith(async (request) => {
        await told.opened;
        return scene.handOn(request);
      });
      const before = scene.receiver.requests.length;
      const doomed = start(point);
      await eventually(() => expect(scene.receiver.requests).toHaveLength(before + 1), { timeoutMs: 30_000 });
      process.kill(doomed.pid, 'SIGTERM');
      await doomed.waitForLine(/^closing$/);
      told.open();
      await diedAt(scene.queue.database, doomed, point);
      scene.receiver.answerWith(scene.handOn);
    };

    it('before it recorded and gave back: all it had claimed waits for the lease, one attempt spent', async () => {
      const ids = await scene.place(3);
      await dieAt('before finalize');
      const undone = await scene.undone(ids);
      expect(undone).toHaveLength(3);
      for (const delivery of undone) expect(delivery).toMatchObject({ status: 0, attempts: 1, isLeased: true });
      await scene.deliver();
      expect(scene.sent(ids)).toHaveLength(1);

      await scene.passTime();
      await scene.deliver();
      expect(scene.sent(ids)).toHaveLength(4);
      await expectShippedOnce(ids);
    });

    it('after it recorded and gave back: the rest is delivered at once, no attempt spent', async () => {
      const ids = await scene.place(3);
      await dieAt('after finalize');
      const undone = await scene.undone(ids);
      expect(undone).toHaveLength(2);
      for (const delivery of undone) expect(delivery).toMatchObject({ status: 0, attempts: 0, hasLease: false });
      await scene.deliver();
      expect(scene.sent(ids)).toHaveLength(3);
      await expectShippedOnce(ids);
    });
  });

  it('in the last attempt leaves a dead letter although it was shipped; redriven, it is recognised as a duplicate', async () => {
    const ids = await scene.place(1);
    await scene.queue.database.query('update outbox_delivery set attempts = 11 where event_id = any ($1::uuid[])', [
      ids,
    ]);
    await diedAt(scene.queue.database, start('before finalize'), 'before finalize');
    await scene.passTime();
    await scene.deliver();
    expect(await scene.undone(ids)).toMatchObject([{ status: 1, attempts: 12 }]);
    expect(scene.sent(ids)).toHaveLength(1);

    const deadLetters = scene.queue.module.get(DeadLetterService);
    await deadLetters.redrive({ ids: (await scene.undone(ids)).map(({ id }) => id) }, byHand);
    await scene.deliver();
    expect(scene.sent(ids)).toHaveLength(2);
    await expectShippedOnce(ids);
  });
});
