import { randomUUID } from 'node:crypto';
import { BacklogService, DeadLetterService, OperationLogService } from 'nestjs-transactional-outbox';
import { HttpTransport } from 'nestjs-transactional-outbox/http';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { byHand } from '../support/by-hand.js';
import { eventually } from '../support/eventually.js';
import { noted, OrderNoted, OrderStep, type OutboxApp, startOutboxApp, step } from '../support/outbox-app.js';
import { type RecordingServer, startRecordingServer } from '../support/recording-server.js';

describe('a receiver that fails', () => {
  let failures: number;
  let receiver: RecordingServer;
  let app: OutboxApp;

  beforeEach(async () => {
    failures = 0;
    receiver = await startRecordingServer(() => ({ status: failures-- > 0 ? 500 : 200 }));
    app = await startOutboxApp({
      outbox: {
        destinations: {
          receiver: {
            transport: new HttpTransport({ url: receiver.url }),
            maxAttempts: 4,
            retryBaseMs: 1,
            retryCapMs: 5,
          },
        },
        routes: [{ events: [OrderNoted, OrderStep], to: ['receiver'] }],
      },
    });
  });
  afterEach(async () => {
    await app.close();
    await receiver.close();
  });

  const emit = (...events: object[]): Promise<string[]> => app.outbox.transaction(() => app.outbox.emit(events));
  const drainUntil = (requests: number): Promise<void> =>
    eventually(async () => {
      await app.dispatcher.drain();
      expect(receiver.requests.length).toBe(requests);
    });
  const deadLetters = (): DeadLetterService => app.module.get(DeadLetterService);

  it('an event is tried again after each 500 and delivered by the fourth attempt', async () => {
    failures = 3;
    const [id] = await emit(noted(randomUUID()));
    await drainUntil(4);
    expect(receiver.requests.map(({ headers }) => headers['webhook-id'])).toEqual([id, id, id, id]);
    expect(await deadLetters().list()).toEqual([]);
    expect(await app.database.query('select count(*)::int as waiting from outbox_delivery')).toEqual([{ waiting: 0 }]);
  });

  it('an event that failed for good is listed with its reason, and put back it is delivered under the same id', async () => {
    failures = 4;
    const [id] = await emit(noted(randomUUID()));
    await drainUntil(4);
    const [letter] = await deadLetters().list({ destination: 'receiver' });
    expect(letter).toMatchObject({
      eventId: id,
      destination: 'receiver',
      type: 'order.noted',
      attempts: 4,
      blocksKey: false,
    });
    expect(letter?.error).toContain('500');
    expect(await app.module.get(BacklogService).read()).toMatchObject([
      { destination: 'receiver', dead: 1, pending: 0 },
    ]);

    expect(await deadLetters().redrive({ ids: [letter?.id ?? ''] }, byHand)).toBe(1);
    await drainUntil(5);
    expect(receiver.requests.at(-1)?.headers['webhook-id']).toBe(id);
    expect(await deadLetters().list()).toEqual([]);
  });

  it('a redriven event of an ordered aggregate goes before those that waited for it', async () => {
    failures = 4;
    const order = randomUUID();
    const ids = await emit(step(order, 1), step(order, 2), step(order, 3));
    await drainUntil(4);
    expect(await deadLetters().list()).toMatchObject([{ eventId: ids[0], blocksKey: true }]);
    await app.dispatcher.drain();
    expect(receiver.requests).toHaveLength(4);

    await deadLetters().redrive({ destination: 'receiver' }, byHand);
    await drainUntil(7);
    expect(receiver.requests.slice(4).map(({ headers }) => headers['webhook-id'])).toEqual(ids);
  });

  it('a discarded event is gone for good, stays in the log, and its aggregate goes on', async () => {
    failures = 4;
    const order = randomUUID();
    const ids = await emit(step(order, 1), step(order, 2));
    await drainUntil(4);
    expect(await deadLetters().discard({ destination: 'receiver' }, byHand)).toBe(1);
    await drainUntil(5);
    expect(receiver.requests.at(-1)?.headers['webhook-id']).toBe(ids[1]);
    expect(await app.database.query('select count(*)::int as logged from outbox_event')).toEqual([{ logged: 2 }]);
  });

  it('what was tried is shown with its times and reasons, a redrive with who asked for it, and the event itself', async () => {
    failures = 4;
    const order = randomUUID();
    await emit(step(order, 1), step(order, 2));
    await drainUntil(4);
    const [letter] = await deadLetters().list();
    const id = letter?.id ?? '';
    const failed = (attempt: number) => ({ attempt, error: expect.stringContaining('500'), at: expect.any(Date) });
    expect(await deadLetters().show(id)).toMatchObject({
      id,
      followers: 1,
      redrives: 0,
      payload: expect.stringContaining(order),
      sequence: 1n,
      history: [failed(1), failed(2), failed(3), failed(4)],
    });
    failures = 4;
    await deadLetters().redrive({ ids: [id] }, byHand);
    await drainUntil(8);
    const { history = [] } = (await deadLetters().show(id)) ?? {};
    expect(history.map(({ attempt, redrivenBy }) => attempt ?? redrivenBy)).toEqual([
      1,
      2,
      3,
      4,
      byHand.by,
      1,
      2,
      3,
      4,
    ]);
  });

  it('no more than the newest twenty attempts are kept', async () => {
    await emit(noted(randomUUID()));
    for (let round = 0; round < 6; round += 1) {
      failures = 4;
      await drainUntil((round + 1) * 4);
      const [letter] = await deadLetters().list();
      if (round === 5) expect((await deadLetters().show(letter?.id ?? ''))?.history).toHaveLength(20);
      await deadLetters().redrive({ ids: [letter?.id ?? ''] }, byHand);
    }
  });

  it('redriven with a rate they become due one after the other, and only so many as asked for', async () => {
    failures = 100;
    await emit(...Array.from({ length: 4 }, () => noted(randomUUID())));
    await drainUntil(16);
    expect(await deadLetters().redrive({ destination: 'receiver' }, byHand, { perSecond: 1, limit: 3 })).toBe(3);
    expect(await deadLetters().count()).toBe(1);
    const due = await app.database.query<{ seconds: number }>(
      `select round(extract(epoch from available_at - min(available_at) over ()))::int as seconds
       from outbox_delivery where status = 0 order by id`,
    );
    expect(due.map(({ seconds }) => seconds)).toEqual([0, 1, 2]);
  });

  it('are selected by type, aggregate and time', async () => {
    failures = 100;
    const order = randomUUID();
    await emit(noted(order), step(order, 1), noted(randomUUID()));
    await drainUntil(12);
    const tomorrow = new Date(Date.now() + 86_400_000);
    expect(await deadLetters().count({ type: 'order.noted' })).toBe(2);
    expect(await deadLetters().count({ aggregateType: 'order', aggregateId: order })).toBe(2);
    expect(await deadLetters().count({ createdBefore: tomorrow })).toBe(3);
    expect(await deadLetters().count({ createdAfter: tomorrow })).toBe(0);
    expect(await deadLetters().redrive({ type: 'order.step' }, byHand)).toBe(1);
    expect(await deadLetters().count()).toBe(2);
  });

  it('what was decided about them is recorded with who and why, in the same transaction; what reached nothing is not', async () => {
    failures = 8;
    await emit(noted(randomUUID()), noted(randomUUID()));
    await drainUntil(8);
    const [first] = await deadLetters().list();
    const ids = [first?.id ?? ''];
    await deadLetters().redrive({ ids }, byHand);
    await deadLetters().redrive({ ids: ['4711'] }, byHand);
    await deadLetters().discard({ type: 'order.noted' }, { by: 'somebody else', reason: 'nobody needs it' });
    const log = app.module.get(OperationLogService);
    expect(await log.list()).toMatchObject([
      {
        action: 'discard',
        by: 'somebody else',
        reason: 'nobody needs it',
        details: { type: 'order.noted' },
        affected: 1,
      },
      { action: 'redrive', ...byHand, details: { ids }, affected: 1 },
    ]);
    expect(await log.list({ limit: 1 })).toHaveLength(1);
  });

  it('an id that cannot be one, a change without a name, and one without a reason are refused', async () => {
    await expect(deadLetters().redrive({ ids: ["1'"] }, byHand)).rejects.toThrow('no id of a delivery');
    await expect(deadLetters().show('x')).rejects.toThrow('no id of a delivery');
    const letters = { destination: 'receiver' };
    await expect(deadLetters().redrive(letters, { by: '', reason: 'x' })).rejects.toThrow('"by" is text of 1 to 200');
    await expect(deadLetters().discard(letters, { by: 'x', reason: ' ' })).rejects.toThrow('"reason" is text of 1 to');
    expect(await deadLetters().show('4711')).toBeUndefined();
  });

  it('an empty filter redrives and discards nothing', async () => {
    await expect(deadLetters().redrive({}, byHand)).rejects.toThrow('empty filter');
    await expect(deadLetters().discard({}, byHand)).rejects.toThrow('empty filter');
  });
});
