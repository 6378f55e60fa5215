import { randomUUID } from 'node:crypto';
import { BacklogService, DeadLetterService } from 'nestjs-transactional-outbox';
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

  it('an empty filter redrives and discards nothing', async () => {
    await expect(deadLetters().redrive({}, byHand)).rejects.toThrow('empty filter');
    await expect(deadLetters().discard({}, byHand)).rejects.toThrow('empty filter');
  });
});
