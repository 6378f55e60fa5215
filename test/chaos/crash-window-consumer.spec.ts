import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { diedAt, dieInside, startDoomed } from './crash-window-doomed.js';
import { type CrashScene, startCrashScene } from './crash-window-scene.js';

describe('a receiving application that is killed', { timeout: 60_000 }, () => {
  let scene: CrashScene;
  let ids: readonly string[];
  let outcomes: (string | undefined)[];
  beforeAll(async () => {
    scene = await startCrashScene();
  });
  afterAll(() => scene.close());
  afterEach(() => scene.expectNothingElseChanged());

  const handOn: CrashScene['handOn'] = async (request) => {
    const answer = await scene.handOn(request);
    outcomes.push(answer === 'reset' ? answer : (answer.headers['inbox-outcome'] ?? 'processed'));
    return answer;
  };
  const place = async (): Promise<void> => {
    outcomes = [];
    scene.receiver.answerWith(handOn);
    ids = await scene.place(1);
  };
  const startDoomedShipping = async (dieAt?: string) => {
    const doomed = startDoomed(scene.queue.database, 'crash-consumer', { dieAt });
    const [, url] = /^listens (.*)$/.exec(await doomed.waitForLine(/^listens/, 30_000)) ?? [];
    scene.shipAt(url);
    return doomed;
  };
  const recorded = async (): Promise<number> =>
    (await scene.queue.database.query('select from processed_events where event_id = any ($1)', [ids])).length;
  /** The sender has noted that it got no answer, and an attempt is spent. */
  const expectNoAnswer = async (): Promise<void> => {
    expect(outcomes).toEqual(['reset']);
    expect(await scene.undone(ids)).toMatchObject([{ status: 0, attempts: 1, hasLease: false }]);
  };
  const dieAt = async (point: string): Promise<void> => {
    await place();
    const doomed = await startDoomedShipping(point);
    await scene.deliver();
    await diedAt(scene.queue.database, doomed, point);
    await expectNoAnswer();
  };
  const dieInCommit = async (ending: 'abandon' | 'complete'): Promise<void> => {
    await place();
    let sending: Promise<void> | undefined;
    await dieInside(scene.queue.database, { operation: 'INSERT', ending }, async () => {
      const doomed = await startDoomedShipping();
      sending = scene.deliver();
      return doomed;
    });
    await sending;
    await expectNoAnswer();
  };
  const deliverAgain = async (): Promise<void> => {
    scene.shipAt();
    await scene.passTime();
    await scene.deliver();
    expect(await scene.undone(ids)).toEqual([]);
    expect(await scene.shipped(ids)).toEqual(ids);
    expect(await recorded()).toBe(1);
  };
  /** Neither record nor effect is there; the next delivery is processed. */
  const expectUntouchedThenProcessed = async (): Promise<void> => {
    expect([await recorded(), await scene.shipped(ids)]).toEqual([0, []]);
    await deliverAgain();
    expect(outcomes).toEqual(['reset', 'processed']);
  };
  /** Record and effect are there; the next delivery is a duplicate. */
  const expectProcessedThenDuplicate = async (): Promise<void> => {
    expect([await recorded(), await scene.shipped(ids)]).toEqual([1, ids]);
    await deliverAgain();
    expect(outcomes).toEqual(['reset', 'duplicate']);
  };

  it('before its record: nothing is there, and the next delivery is processed', async () => {
    await dieAt('before record');
    await expectUntouchedThenProcessed();
  });

  it('after its record and before the effect: nothing is there, and the next delivery is processed', async () => {
    await dieAt('before shipment');
    await expectUntouchedThenProcessed();
  });

  it('after the effect and before COMMIT: nothing is there, and the next delivery is processed', async () => {
    await dieAt('before commit');
    await expectUntouchedThenProcessed();
  });

  it('during its COMMIT, which PostgreSQL abandons: nothing is there, and the next delivery is processed', async () => {
    await dieInCommit('abandon');
    await expectUntouchedThenProcessed();
  });

  it('during its COMMIT, which PostgreSQL completes: the next delivery is a duplicate, shipped once', async () => {
    await dieInCommit('complete');
    await expectProcessedThenDuplicate();
  });

  it('after its COMMIT and before it saw the answer: the next delivery is a duplicate, shipped once', async () => {
    await dieAt('after commit');
    await expectProcessedThenDuplicate();
  });

  it('after its COMMIT and before it answered the sender: the next delivery is a duplicate, shipped once', async () => {
    await dieAt('before answer');
    await expectProcessedThenDuplicate();
  });
});
