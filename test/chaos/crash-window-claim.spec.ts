import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { ChildProgram } from '../support/child-process.js';
import { environmentOf } from '../support/dispatcher-process.js';
import { diedAt, dieInside, startDoomed } from './crash-window-doomed.js';
import { type CrashScene, startCrashScene } from './crash-window-scene.js';

describe('a dispatcher process that is killed', { timeout: 60_000 }, () => {
  let scene: CrashScene;
  beforeAll(async () => {
    scene = await startCrashScene();
  });
  afterAll(() => scene.close());
  afterEach(() => scene.expectNothingElseChanged());

  const start = (dieAt?: string): ChildProgram =>
    startDoomed(scene.queue.database, 'dispatcher', {
      dieAt,
      env: environmentOf(scene.queue.database, scene.receiver, { LEASE_MS: 60_000 }),
    });
  const dieAfterClaim = (): Promise<void> => diedAt(scene.queue.database, start('after claim'), 'after claim');
  const dieInClaim = (ending: 'abandon' | 'complete'): Promise<void> =>
    dieInside(scene.queue.database, { operation: 'UPDATE', afterRows: 1, ending }, start);

  const expectSentAndShippedOnce = async (ids: readonly string[]): Promise<void> => {
    expect(scene.sent(ids).toSorted()).toEqual(ids.toSorted());
    expect((await scene.shipped(ids)).toSorted()).toEqual(ids.toSorted());
    expect(await scene.undone(ids)).toEqual([]);
  };
  const expectDeliveredWhenTheLeaseEnds = async (ids: readonly string[]): Promise<void> => {
    for (const delivery of await scene.undone(ids))
      expect(delivery).toMatchObject({ status: 0, attempts: 1, isLeased: true });
    await scene.deliver();
    expect(scene.sent(ids)).toEqual([]);
    await scene.passTime();
    await scene.deliver();
    await expectSentAndShippedOnce(ids);
  };

  it('in its claim, which PostgreSQL abandons, has spent no attempt: its successor delivers at once', async () => {
    const ids = await scene.place(3);
    await dieInClaim('abandon');
    for (const delivery of await scene.undone(ids))
      expect(delivery).toMatchObject({ status: 0, attempts: 0, token: '0', hasLease: false });
    await scene.deliver();
    await expectSentAndShippedOnce(ids);
  });

  it('in its claim, which PostgreSQL completes, has spent an attempt: its successor delivers when the lease ends', async () => {
    const ids = await scene.place(3);
    await dieInClaim('complete');
    await expectDeliveredWhenTheLeaseEnds(ids);
  });

  it('after its claim and before it saw the answer has spent an attempt: its successor delivers when the lease ends', async () => {
    const ids = await scene.place(3);
    await dieAfterClaim();
    await expectDeliveredWhenTheLeaseEnds(ids);
  });

  it('with an aggregate in its hands: nothing of it overtakes, and it goes on in order when the lease ends', async () => {
    const aggregate = randomUUID();
    const claimed = await scene.queue.emitOrdered(aggregate, 2);
    await dieAfterClaim();
    const ids = [...claimed, ...(await scene.queue.emitOrdered(aggregate, 2))];
    await scene.deliver();
    expect(scene.sent(ids)).toEqual([]);
    expect((await scene.undone(ids)).map(({ attempts }) => attempts)).toEqual([1, 1, 0, 0]);

    await scene.passTime();
    await scene.deliver();
    expect(scene.sent(ids)).toEqual(ids);
    expect(await scene.shipped(ids)).toEqual(ids);
  });
});
