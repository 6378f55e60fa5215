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
  afterEach(async () => {
    scene.receiver.answerWith(scene.handOn);
    await scene.expectNothingElseChanged();
  });

  const start = (dieAt?: string): ChildProgram =>
    startDoomed(scene.queue.database, 'dispatcher', {
      dieAt,
      env: environmentOf(scene.queue.database, scene.receiver, { LEASE_MS: 60_000 }),
    });
  const dieAt = (point: string): Promise<void> => diedAt(scene.queue.database, start(point), point);
  const dieInFinalize = (ending: 'abandon' | 'complete'): Promise<void> =>
    dieInside(scene.queue.database, { operation: 'DELETE', afterRows: 3 + 1, ending }, start);

  const expectSentAgainAndShippedOnce = async (ids: readonly string[]): Promise<void> => {
    const undone = await scene.undone(ids);
    expect(undone).toHaveLength(ids.length);
    for (const delivery of undone) expect(delivery).toMatchObject({ status: 0, attempts: 1, isLeased: true });
    await scene.deliver();
    expect(scene.sent(ids)).toEqual(ids);

    await scene.passTime();
    await scene.deliver();
    expect(scene.sent(ids)).toEqual([...ids, ...ids]);
    expect(await scene.shipped(ids)).toEqual(ids);
    expect(await scene.undone(ids)).toEqual([]);
  };
  const expectOver = async (ids: readonly string[]): Promise<void> => {
    expect(await scene.undone(ids)).toEqual([]);
    await scene.deliver();
    expect(scene.sent(ids)).toEqual(ids);
    expect(await scene.shipped(ids)).toEqual(ids);
  };

  it('while its request is on the way to a receiver that does nothing: sent again, the very same bytes', async () => {
    const ids = await scene.place(1);
    const doomed = start();
    scene.receiver.answerWith(async () => {
      scene.receiver.answerWith(scene.handOn);
      await doomed.kill('SIGKILL');
      return 'reset' as const;
    });
    await doomed.exited;
    expect(await scene.shipped(ids)).toEqual([]);
    await expectSentAgainAndShippedOnce(ids);
    const [first, second] = scene.receiver.requests.filter(({ headers }) => headers['webhook-id'] === ids[0]);
    expect(second?.body).toEqual(first?.body);
  });

  it('while it waits for the answer of a receiver that has done its work: sent again, shipped once', async () => {
    const ids = await scene.place(1);
    const doomed = start();
    scene.receiver.answerWith(async (request) => {
      scene.receiver.answerWith(scene.handOn);
      const answer = await scene.handOn(request);
      await doomed.kill('SIGKILL');
      return answer;
    });
    await doomed.exited;
    expect(await scene.shipped(ids)).toEqual(ids);
    await expectSentAgainAndShippedOnce(ids);
  });

  it('after the answers and before it recorded them: all are sent again, each shipped once', async () => {
    const ids = await scene.place(3);
    await dieAt('before finalize');
    expect(await scene.shipped(ids)).toEqual(ids);
    await expectSentAgainAndShippedOnce(ids);
  });

  it('while its outcomes are written, which PostgreSQL abandons: all are sent again, each shipped once', async () => {
    const ids = await scene.place(3);
    await dieInFinalize('abandon');
    expect(await scene.shipped(ids)).toEqual(ids);
    await expectSentAgainAndShippedOnce(ids);
  });

  it('while its outcomes are written, which goes on without it: all are recorded or none, each is shipped once', async () => {
    const ids = await scene.place(3);
    await dieInFinalize('complete');
    // The statements after the one that was held may be lost with the connection, the COMMIT among them.
    const { length } = await scene.undone(ids);
    if (length === 0) await expectOver(ids);
    else await expectSentAgainAndShippedOnce(ids);
  });

  it('after its outcomes were written and before it saw the answer: nothing is sent again', async () => {
    const ids = await scene.place(3);
    await dieAt('after finalize');
    await expectOver(ids);
  });
});
