import { randomUUID } from 'node:crypto';
import type { OutgoingEvent, PublishOutcome, Transport } from 'nestjs-transactional-outbox';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { delivered } from '../../libs/outbox/src/transports/index.js';
import { BareDispatcher } from '../support/bare-dispatcher.js';
import { noted, step } from '../support/outbox-app.js';
import { type OutboxQueue, startOutboxQueue } from '../support/outbox-queue.js';

const TIMEOUT_MS = 200;
const ONE_BY_ONE = { batch: false, keepsOrderPerKey: false, deduplicates: false };
const IN_BATCHES = { batch: true, keepsOrderPerKey: true, deduplicates: false };

/** Misbehaves for the events of one aggregate; delivers, and remembers, all others. */
class MisbehavingTransport implements Transport {
  readonly capabilities = ONE_BY_ONE;
  readonly accepted: string[] = [];

  constructor(
    private readonly aggregateId: string,
    private readonly misbehave: (signal: AbortSignal) => Promise<readonly PublishOutcome[]>,
  ) {}

  publish(batch: readonly OutgoingEvent[], signal: AbortSignal): Promise<readonly PublishOutcome[]> {
    if (batch.some(({ envelope }) => envelope.aggregateId === this.aggregateId)) return this.misbehave(signal);
    this.accepted.push(...batch.map(({ envelope }) => envelope.id));
    return Promise.resolve(batch.map(() => delivered));
  }
}

const never = (): Promise<never> => new Promise(() => undefined);

describe('a transport that', () => {
  let queue: OutboxQueue;
  beforeEach(async () => {
    queue = await startOutboxQueue();
  });
  afterEach(() => queue.close());

  it.each([
    ['never settles', never, `no answer within ${TIMEOUT_MS} ms`],
    [
      'answers only when it is told to stop, and then too much',
      (signal: AbortSignal) =>
        new Promise<PublishOutcome[]>((resolve) => signal.addEventListener('abort', () => resolve([]))),
      'the transport answered 0 outcomes for 1 events',
    ],
    [
      'throws synchronously',
      () => {
        throw new Error('at once');
      },
      'Error: at once',
    ],
    ['rejects', () => Promise.reject(new Error('later')), 'Error: later'],
    ['answers too few outcomes', () => Promise.resolve([]), 'the transport answered 0 outcomes for 1 events'],
  ])('%s costs its event an attempt, and the other events nothing', async (_what, misbehave, error) => {
    const bad = randomUUID();
    const healthy = Array.from({ length: 50 }, () => noted(randomUUID()));
    const [badId, ...healthyIds] = await queue.emit(noted(bad), ...healthy);
    const transport = new MisbehavingTransport(bad, misbehave);
    const dispatcher = new BareDispatcher({
      store: queue.openStore(),
      transport,
      publishTimeoutMs: TIMEOUT_MS,
      concurrency: 2,
      retryBaseMs: 3_600_000,
      retryCapMs: 3_600_000,
    });
    expect(await dispatcher.dispatchOnce()).toMatchObject({ delivered: 50, retried: 1 });
    expect(transport.accepted.toSorted()).toEqual(healthyIds.toSorted());
    expect(await queue.deliveries()).toMatchObject([
      { eventId: badId, status: 0, attempts: 1, hasLease: false, error },
    ]);
  });

  it.each([
    ['undefined', undefined],
    ['null', null],
    ['a text', 'delivered'],
    ['an outcome of no known kind', { kind: 'acknowledged' }],
    ['a retry without a text', { kind: 'retry' }],
    ['a dead without a text', { kind: 'dead', error: 42 }],
    ['a defer without a reason', { kind: 'defer', delayMs: 1000 }],
  ])('answers %s costs that event an attempt, and no other event of the batch', async (_what, nonsense) => {
    const [bad, ...healthy] = await queue.emitUnordered(5);
    const transport: Transport = {
      capabilities: IN_BATCHES,
      // JavaScript can answer anything; the types would not let a test do so.
      publish: async (batch) =>
        batch.map(({ envelope }) => (envelope.id === bad ? (nonsense as unknown as PublishOutcome) : delivered)),
    };
    const dispatcher = new BareDispatcher({ store: queue.openStore(), transport });
    expect(await dispatcher.dispatchOnce()).toMatchObject({ delivered: healthy.length, retried: 1, unclassified: 1 });
    expect(await queue.deliveries()).toMatchObject([{ eventId: bad, status: 0, attempts: 1, hasLease: false }]);
  });

  it('never settles for an ordered event: its followers are not sent, and have spent no attempt', async () => {
    const stuck = randomUUID();
    await queue.emit(step(stuck, 1), step(stuck, 2));
    const transport = new MisbehavingTransport(stuck, never);
    const dispatcher = new BareDispatcher({
      store: queue.openStore(),
      transport,
      publishTimeoutMs: TIMEOUT_MS,
      retryBaseMs: 3_600_000,
      retryCapMs: 3_600_000,
    });
    await dispatcher.drain();
    expect(await queue.deliveries()).toMatchObject([
      { status: 0, attempts: 1, holdsKey: true },
      { status: 0, attempts: 0, holdsKey: false },
    ]);
  });
});
