import { randomUUID } from 'node:crypto';
import type { OutgoingEvent, PublishOutcome } from 'nestjs-transactional-outbox';
import { MemoryTransport } from 'nestjs-transactional-outbox/memory';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { orderingKey } from '../../libs/outbox/src/event/index.js';
import { delivered } from '../../libs/outbox/src/transports/index.js';
import { BareDispatcher } from '../support/bare-dispatcher.js';
import { eventually } from '../support/eventually.js';
import { step } from '../support/outbox-app.js';
import { type OutboxQueue, startOutboxQueue } from '../support/outbox-queue.js';

const HOUR_MS = 3_600_000;

/** Publishes of one aggregate that are under way. */
class Overlaps {
  private readonly running = new Map<string, number>();
  most = 0;

  async watch<Result>(key: string, work: () => Promise<Result>): Promise<Result> {
    const beside = (this.running.get(key) ?? 0) + 1;
    this.running.set(key, beside);
    this.most = Math.max(this.most, beside);
    try {
      return await work();
    } finally {
      this.running.set(key, beside - 1);
    }
  }
}

const laneOf = (orderId: string): bigint => BigInt(orderingKey('order', orderId)) & 31n;

/** An order in another lane: those that share one wait for a dispatcher that died with it. */
function besideLaneOf(orderId: string): string {
  for (;;) {
    const other = randomUUID();
    if (laneOf(other) !== laneOf(orderId)) return other;
  }
}

describe('three dispatchers, the first event of X not going through, Y beside it', () => {
  let queue: OutboxQueue;
  let x: string;
  let y: string;
  let answers: PublishOutcome[];
  let overlaps: Overlaps;
  let memory: MemoryTransport;
  let dispatchers: BareDispatcher[];

  beforeEach(async () => {
    queue = await startOutboxQueue();
    x = randomUUID();
    y = besideLaneOf(x);
    answers = [];
    overlaps = new Overlaps();
    const respond = async ({ envelope }: OutgoingEvent): Promise<PublishOutcome> => {
      await new Promise(setImmediate);
      const isFirstOfX = envelope.aggregateId === x && envelope.sequence === 1n;
      return (isFirstOfX ? answers.shift() : undefined) ?? delivered;
    };
    memory = new MemoryTransport({
      respond: (event) => overlaps.watch(event.envelope.aggregateId, () => respond(event)),
    });
    const transport = {
      capabilities: { batch: false, keepsOrderPerKey: false, deduplicates: false },
      publish: memory.publish.bind(memory),
    };
    dispatchers = [1, 2, 3].map(
      () =>
        new BareDispatcher({
          store: queue.openStore(),
          transport,
          batchSize: 10,
          concurrency: 4,
          retryBaseMs: HOUR_MS,
          retryCapMs: HOUR_MS,
        }),
    );
    await queue.emit(step(x, 1), step(x, 2), step(y, 1), step(x, 3), step(y, 2));
  });
  afterEach(() => queue.close());

  const drainAll = (): Promise<unknown> => Promise.all(dispatchers.map((dispatcher) => dispatcher.drain()));
  const acceptedOf = (aggregate: string): (bigint | undefined)[] =>
    memory.accepted
      .filter(({ envelope }) => envelope.aggregateId === aggregate)
      .map(({ envelope }) => envelope.sequence);

  it.each<[string, PublishOutcome]>([
    ['is refused for the moment', { kind: 'retry', error: 'busy' }],
    ['is deferred', { kind: 'defer', reason: 'not yet', delayMs: HOUR_MS }],
  ])('when it %s twice: X arrives in order and never overlaps, Y is not kept waiting', async (_, answer) => {
    answers = [answer, answer];
    for (const round of [1, 2]) {
      await drainAll();
      expect(acceptedOf(x)).toEqual([]);
      expect(acceptedOf(y)).toEqual([1n, 2n]);
      expect(answers).toHaveLength(2 - round);
      await queue.makeDue();
    }
    await eventually(async () => {
      await drainAll();
      expect(await queue.deliveries()).toEqual([]);
    });
    expect(acceptedOf(x)).toEqual([1n, 2n, 3n]);
    expect(overlaps.most).toBe(1);
  });

  it('when its dispatcher dies with it: Y is not kept waiting, and X goes on when the lease ends', async () => {
    const doomed = queue.openStore();
    const claim = await doomed.claim({
      destination: 'memory',
      owner: 'doomed',
      leaseMs: HOUR_MS,
      batchSize: 1,
      batchBytes: 1024,
      maxAttempts: 12,
    });
    const held = claim.kind === 'claimed' ? claim.claim.deliveries[0]?.envelope?.aggregateId : undefined;
    const [waiting = '', passing = ''] = held === x ? [x, y] : [y, x];
    await drainAll();
    expect(acceptedOf(waiting)).toEqual([]);
    expect(acceptedOf(passing)).toEqual(passing === x ? [1n, 2n, 3n] : [1n, 2n]);
    await queue.expireLeases();
    await drainAll();
    expect(acceptedOf(waiting)).toEqual(waiting === x ? [1n, 2n, 3n] : [1n, 2n]);
    expect(overlaps.most).toBe(1);
  });
});
