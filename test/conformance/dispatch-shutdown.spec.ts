import { EventEmitter, once } from 'node:events';
import type { DestinationOptions, OutgoingEvent, PublishOutcome, Transport } from 'nestjs-transactional-outbox';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { delivered } from '../../libs/outbox/src/transports/index.js';
import { shutOut } from '../support/database-access.js';
import { eventually } from '../support/eventually.js';
import { type OutboxApp, startOutboxApp } from '../support/outbox-app.js';
import { mustClaim, type OutboxQueue, startOutboxQueue } from '../support/outbox-queue.js';

/** Answers nothing until it is told to. */
class WaitingTransport implements Transport {
  readonly capabilities = { batch: false, keepsOrderPerKey: false, deduplicates: false };
  readonly started: string[] = [];
  readonly calls = new EventEmitter();

  async publish(batch: readonly OutgoingEvent[]): Promise<readonly PublishOutcome[]> {
    const answered = once(this.calls, 'answer');
    this.started.push(...batch.map(({ envelope }) => envelope.id));
    this.calls.emit('started');
    await answered;
    return batch.map(() => delivered);
  }

  answer(): void {
    this.calls.emit('answer');
  }
}

describe('a dispatcher that is shut down in the middle of a batch', () => {
  let queue: OutboxQueue;
  let transport: WaitingTransport;
  let stopping: OutboxApp;
  beforeEach(async () => {
    queue = await startOutboxQueue();
    transport = new WaitingTransport();
    transport.calls.setMaxListeners(0);
  });
  afterEach(() => queue.close());

  /** The application has begun to close when this resolves; its end is `ended`. */
  const beginToClose = async (): Promise<{ ended: Promise<void> }> => {
    const ended = stopping.module.close();
    // The dispatcher's hook waits for nothing before it stops claiming.
    await new Promise(setImmediate);
    return { ended };
  };
  const start = async (shutdownGraceMs: number, options: Partial<DestinationOptions> = {}): Promise<void> => {
    stopping = await startOutboxApp({
      database: queue.database,
      outbox: {
        destinations: { memory: { transport, concurrency: 2, batchesInFlight: 1, ...options } },
        dispatcher: { schedule: 'loop', pollIntervalMs: 20, shutdownGraceMs },
      },
    });
    await eventually(() => expect(transport.started).toHaveLength(2));
  };

  it('finishes and records what it is publishing, and leaves the rest claimable at once, no attempt spent', async () => {
    const emitted = await queue.emitUnordered(10);
    await start(60_000, { batchesInFlight: 2 });
    const { ended } = await beginToClose();
    await queue.emitUnordered(1);
    transport.answer();
    await ended;

    const left = await queue.deliveries();
    expect(left).toHaveLength(9);
    expect(left).toMatchObject(left.map(() => ({ status: 0, attempts: 0, hasLease: false })));
    const sent = new Set(transport.started);
    expect(sent.size).toBe(2);
    expect(left.slice(0, 8).map(({ eventId }) => eventId)).toEqual(emitted.filter((id) => !sent.has(id)));
    expect((await mustClaim(queue.openStore())).deliveries).toHaveLength(9);
  });

  it('gives the lane back too, with the order kept', async () => {
    const emitted = await queue.emitOrdered('o', 5);
    const unordered = await queue.emitUnordered(1);
    await start(60_000);
    const { ended } = await beginToClose();
    transport.answer();
    await ended;
    expect(transport.started.toSorted()).toEqual([emitted[0], ...unordered].toSorted());
    const next = await mustClaim(queue.openStore());
    expect(next.deliveries.map(({ envelope, attempts }) => [envelope?.id, attempts])).toEqual(
      emitted.slice(1).map((id) => [id, 1]),
    );
  });

  it('with a grace shorter than a publish ends in time; only what was being published is uncertain', async () => {
    await queue.emitUnordered(10);
    await start(50);
    await stopping.module.close();

    const left = await queue.deliveries();
    const uncertain = new Set(transport.started);
    expect(left).toHaveLength(10);
    const untouched = left.filter(({ eventId }) => !uncertain.has(eventId));
    expect(untouched).toHaveLength(8);
    for (const row of untouched) expect(row).toMatchObject({ status: 0, attempts: 0, hasLease: false });
    for (const row of untouched) expect(row.dueInMs).toBeLessThanOrEqual(0);
    for (const row of left) expect(row.status).toBe(0);
  });

  it('makes no dead letter of an event that it interrupted in its last attempt', async () => {
    await queue.emitUnordered(2);
    await start(50, { maxAttempts: 1 });
    await stopping.module.close();
    expect((await queue.deliveries()).map(({ status }) => status)).toEqual([0, 0]);
  });

  it('does not wait for PostgreSQL beyond the grace', async () => {
    await queue.emitUnordered(2);
    await start(200, { leaseMs: 3_600_000 });
    await shutOut(queue.database);
    const { ended } = await beginToClose();
    transport.answer();
    await ended;
  }, 15_000);
});

describe('a dispatcher is shut down', () => {
  it('although its transport never finishes connecting', async () => {
    const connecting = new EventEmitter();
    const called = once(connecting, 'called');
    const app = await startOutboxApp({
      outbox: {
        destinations: {
          memory: {
            transport: {
              capabilities: { batch: true, keepsOrderPerKey: true, deduplicates: false },
              publish: async (batch) => batch.map(() => delivered),
              connect: () => {
                connecting.emit('called');
                return new Promise(() => undefined);
              },
            },
          },
        },
        dispatcher: { schedule: 'loop', shutdownGraceMs: 100 },
      },
    });
    await called;
    await app.close();
  }, 15_000);

  it('although its transport never finishes closing', async () => {
    const app = await startOutboxApp({
      outbox: {
        destinations: {
          memory: {
            transport: {
              capabilities: { batch: true, keepsOrderPerKey: true, deduplicates: false },
              publish: async (batch) => batch.map(() => delivered),
              close: () => new Promise(() => undefined),
            },
          },
        },
        dispatcher: { schedule: 'loop' },
      },
    });
    await app.close();
  }, 15_000);
});
