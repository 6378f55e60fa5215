import { MemoryTransport } from 'nestjs-transactional-outbox/memory';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { delivered } from '../../libs/outbox/src/transports/index.js';
import { BareDispatcher } from '../support/bare-dispatcher.js';
import { type OutboxQueue, startOutboxQueue } from '../support/outbox-queue.js';

const NUL = String.fromCharCode(0);
const LONE_SURROGATE = String.fromCharCode(0xd83d);

class UnreadableError extends Error {
  override get message(): string {
    throw new Error('even this');
  }
}

function circular(): Error {
  const error = new Error('goes round');
  error.cause = error;
  return error;
}

/** What a transport may throw that `text` columns, `String()` or property reads do not bear. */
const THROWN: readonly [string, () => unknown][] = [
  ['an error whose text holds NUL', () => new Error(`a${NUL}b`)],
  ['an error whose text holds half a surrogate pair', () => new Error(`a${LONE_SURROGATE}b`)],
  ['an error with 5 MB of text', () => new Error('x'.repeat(5_000_000))],
  ['undefined', () => undefined],
  ['null', () => null],
  ['a text', () => 'text'],
  ['a symbol', () => Symbol('text')],
  ['an error whose text cannot be read', () => new UnreadableError()],
  ['a frozen error', () => Object.freeze(new Error('frozen'))],
  ['an error that is its own cause', circular],
  ['an object without a prototype', () => Object.create(null)],
  [
    'a function whose text cannot be read',
    () => {
      const thrown = (): void => undefined;
      thrown.toString = () => {
        throw new Error('even this');
      };
      return thrown;
    },
  ],
];

describe('a transport that throws, for one event,', () => {
  let queue: OutboxQueue;
  beforeEach(async () => {
    queue = await startOutboxQueue();
  });
  afterEach(() => queue.close());

  it.each(THROWN)('%s: that event ends as a dead letter, all others are delivered', async (_what, thrown) => {
    const [bad, ...healthy] = await queue.emitUnordered(21);
    // One event at a time, as a transport with `batch: false` gets them; a batch would fail as a whole.
    const memory = new MemoryTransport({
      respond: ({ envelope }) => {
        if (envelope.id === bad) throw thrown();
        return delivered;
      },
    });
    const transport = {
      capabilities: { batch: false, keepsOrderPerKey: false, deduplicates: false },
      publish: memory.publish.bind(memory),
    };
    const dispatcher = new BareDispatcher({
      store: queue.openStore(),
      transport,
      maxAttempts: 2,
      retryBaseMs: 3_600_000,
      retryCapMs: 3_600_000,
    });
    expect(await dispatcher.drain()).toMatchObject({ delivered: 20, retried: 1, unclassified: 1 });
    expect(memory.accepted.map(({ envelope }) => envelope.id).toSorted()).toEqual(healthy.toSorted());

    await queue.makeDue();
    expect(await dispatcher.drain()).toMatchObject({ claimed: 1, dead: 1, unclassified: 1 });
    const [letter] = await queue.deliveries();
    expect(letter).toMatchObject({ eventId: bad, status: 1, attempts: 2 });
    expect(letter?.error).toMatch(/^retries exhausted after 2: ./);
    expect(letter?.error?.length).toBeLessThanOrEqual(1000);
    expect(dispatcher.logger.lines.filter((line) => line.startsWith('error unclassified failure'))).toHaveLength(2);
  });

  it.each([
    ['retry', `a${NUL}b${LONE_SURROGATE}${'x'.repeat(5_000_000)}`],
    ['dead', `a${NUL}b${LONE_SURROGATE}${'x'.repeat(5_000_000)}`],
    ['unreachable', `a${NUL}b${LONE_SURROGATE}${'x'.repeat(5_000_000)}`],
  ] as const)('answers "%s" with a text that cannot be stored: the text is cleaned and cut', async (kind, error) => {
    await queue.emitUnordered(1);
    const transport = new MemoryTransport({ respond: () => ({ kind, error }) });
    await new BareDispatcher({ store: queue.openStore(), transport }).dispatchOnce();
    const [row] = await queue.deliveries();
    expect(row?.hasLease).toBe(false);
    expect(row?.error).toContain('a\uFFFDb\uFFFDxxx');
    expect(row?.error?.length).toBeLessThanOrEqual(1000);
  });
});
