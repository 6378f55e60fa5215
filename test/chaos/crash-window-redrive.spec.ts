import { DeadLetterService } from 'nestjs-transactional-outbox';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { byHand } from '../support/by-hand.js';
import type { ChildProgram } from '../support/child-process.js';
import { diedAt, dieInside, startDoomed } from './crash-window-doomed.js';
import { type CrashScene, startCrashScene } from './crash-window-scene.js';

describe('a process that is killed while an operator redrives dead letters', { timeout: 60_000 }, () => {
  let scene: CrashScene;
  beforeAll(async () => {
    scene = await startCrashScene();
  });
  afterAll(() => scene.close());
  afterEach(() => scene.expectNothingElseChanged());

  const deliveriesOf = async (ids: readonly string[]): Promise<string[]> =>
    (await scene.undone(ids)).map(({ id }) => id);
  const start = async (ids: readonly string[], dieAt?: string): Promise<ChildProgram> =>
    startDoomed(scene.queue.database, 'crash-operator', { dieAt, args: ['redrive', ...(await deliveriesOf(ids))] });
  const dieAt = async (point: string, ids: readonly string[]): Promise<void> =>
    diedAt(scene.queue.database, await start(ids, point), point);

  const placeDead = async (): Promise<string[]> => {
    const ids = await scene.place(3);
    await scene.queue.database.query(
      'update outbox_delivery set status = 1, attempts = 12 where event_id = any ($1::uuid[])',
      [ids],
    );
    return ids;
  };
  const redrive = async (ids: readonly string[]): Promise<number> =>
    scene.queue.module.get(DeadLetterService).redrive({ ids: await deliveriesOf(ids) }, byHand);
  /** They still wait for a person, and the next redrive takes them all. */
  const expectStillDead = async (ids: readonly string[]): Promise<void> => {
    const undone = await scene.undone(ids);
    expect(undone.map(({ status, attempts }) => [status, attempts])).toEqual(ids.map(() => [1, 12]));
    await scene.deliver();
    expect(scene.sent(ids)).toEqual([]);
    expect(await redrive(ids)).toBe(3);
    await scene.deliver();
    expect(await scene.shipped(ids)).toEqual(ids);
  };

  it('before it was sent: every dead letter is still one', async () => {
    const ids = await placeDead();
    await dieAt('before redrive', ids);
    await expectStillDead(ids);
  });

  it('in the middle of it, and PostgreSQL abandons it: every dead letter is still one', async () => {
    const ids = await placeDead();
    await dieInside(scene.queue.database, { operation: 'UPDATE', afterRows: 1, ending: 'abandon' }, () => start(ids));
    await expectStillDead(ids);
  });

  it('after it and before it saw the answer: all are delivered once, and a second redrive finds none', async () => {
    const ids = await placeDead();
    await dieAt('after redrive', ids);
    expect((await scene.undone(ids)).map(({ status, attempts }) => [status, attempts])).toEqual(ids.map(() => [0, 0]));
    expect(await redrive(ids)).toBe(0);
    await scene.deliver();
    expect(scene.sent(ids)).toEqual(ids);
    expect(await scene.shipped(ids)).toEqual(ids);
  });
});
