import { randomUUID } from 'node:crypto';
import { DeadLetterService, type PublishOutcome } from 'nestjs-transactional-outbox';
import { MemoryTransport } from 'nestjs-transactional-outbox/memory';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { byHand } from '../support/by-hand.js';
import { noted, step } from '../support/outbox-app.js';
import { type OutboxQueue, startOutboxQueue } from '../support/outbox-queue.js';
import { Telemetry } from '../support/telemetry.js';

const destination = { 'messaging.destination.name': 'memory' };

describe('what an outbox counts', () => {
  let telemetry: Telemetry;
  let queue: OutboxQueue;
  let answer: () => PublishOutcome | Promise<PublishOutcome>;
  beforeAll(async () => {
    telemetry = new Telemetry().start();
    const memory = new MemoryTransport({ respond: () => answer() });
    queue = await startOutboxQueue({
      memory,
      outbox: { destinations: { memory: { transport: memory, pauseBaseMs: 1, pauseCapMs: 1 } } },
    });
  });
  afterAll(async () => {
    await queue.close();
    await telemetry.stop();
  });
  beforeEach(async () => {
    answer = () => ({ kind: 'delivered' });
    await queue.makeDue();
    await queue.dispatcher.drain();
  });

  const attempts = async (outcome: string): Promise<number> =>
    (await telemetry.value('outbox.delivery.attempts', { ...destination, 'outbox.delivery.outcome': outcome })) ?? -1;
  const emitted = (type: string): Promise<number | undefined> =>
    telemetry.value('outbox.emitted.events', { 'cloudevents.event_type': type });
  const backlog = async (): Promise<object> => {
    const points = await telemetry.points('outbox.backlog.deliveries');
    return Object.fromEntries(points.map(({ attributes, value }) => [attributes['outbox.delivery.state'], value]));
  };

  it('an event counts as emitted when its transaction commits, and not before', async () => {
    await expect(
      queue.outbox.transaction(async () => {
        await queue.outbox.emit([noted(randomUUID()), noted(randomUUID())]);
        throw new Error('changed my mind');
      }),
    ).rejects.toThrow('changed my mind');
    await queue.emit(noted(randomUUID()), noted(randomUUID()), step(randomUUID(), 1));
    await expect.poll(() => emitted('order.step')).toBe(1);
    expect(await emitted('order.noted')).toBe(2);
  });

  it.each<[string, PublishOutcome]>([
    ['delivered', { kind: 'delivered' }],
    ['retry', { kind: 'retry', error: 'try later' }],
    ['defer', { kind: 'defer', reason: 'not yet', delayMs: 1 }],
    ['unreachable', { kind: 'unreachable', error: 'nobody there' }],
    ['dead', { kind: 'dead', error: 'never' }],
  ])('an attempt that ends as %s counts as that', async (kind, outcome) => {
    const before = await attempts(kind);
    const sent = (): Promise<number | undefined> =>
      telemetry.value('messaging.client.sent.messages', {
        ...destination,
        'error.type': kind === 'delivered' || kind === 'defer' ? undefined : kind,
      });
    const sentBefore = (await sent()) ?? 0;
    answer = () => outcome;
    await queue.emit(noted(randomUUID()));
    await queue.dispatcher.dispatchOnce();
    expect(await attempts(kind)).toBe(before + 1);
    expect(await sent()).toBe(sentBefore + 1);
  });

  it('a failure that the transport threw counts as unclassified', async () => {
    answer = () => {
      throw new Error('oops');
    };
    await queue.emit(noted(randomUUID()));
    await queue.dispatcher.dispatchOnce();
    expect(await telemetry.value('outbox.unclassified.errors', destination)).toBe(1);
  });

  it('an outcome that comes after the lease was taken over counts as lost', async () => {
    answer = async () => {
      await queue.database.query('update outbox_delivery set lease_version = lease_version + 1 where status = 0');
      return { kind: 'delivered' };
    };
    await queue.emit(noted(randomUUID()));
    await queue.dispatcher.dispatchOnce();
    expect(await telemetry.value('outbox.lease.lost', destination)).toBe(1);
    await queue.database.query('delete from outbox_delivery');
  });

  it('each call of the transport is timed, with one event or a batch', async () => {
    const calls = async (): Promise<number> =>
      (await telemetry.value('messaging.client.operation.duration', { ...destination, 'error.type': undefined })) ?? 0;
    const before = await calls();
    await queue.emit(noted(randomUUID()), noted(randomUUID()), noted(randomUUID()));
    await queue.dispatcher.dispatchOnce();
    expect(await calls()).toBe(before + 1);
  });

  it('the backlog is seen as it is when somebody looks, and as nothing when there is none', async () => {
    await queue.module.get(DeadLetterService).discard({ destination: 'memory' }, byHand);
    expect(await backlog()).toEqual({ pending: 0, processing: 0, expired: 0, dead: 0 });
    expect(await telemetry.value('outbox.backlog.oldest_age', destination)).toBe(0);
    await queue.emit(noted(randomUUID()), noted(randomUUID()));
    answer = () => ({ kind: 'dead', error: 'never' });
    await queue.dispatcher.drain();
    await queue.emit(noted(randomUUID()));
    await queue.database.query(
      `update outbox_delivery set created_at = now() - interval '90 seconds' where status = 0`,
    );
    expect(await backlog()).toEqual({ pending: 1, processing: 0, expired: 0, dead: 2 });
    const age = await telemetry.value('outbox.backlog.oldest_age', destination);
    expect(age).toBeGreaterThanOrEqual(90);
    expect(age).toBeLessThan(120);
  });

  it('nobody reads the backlog of an application that has ended', async () => {
    const other = await startOutboxQueue();
    await other.close();
    // To read from its closed DataSource would fail.
    expect(await telemetry.points('outbox.backlog.oldest_age')).toHaveLength(1);
  });
});
