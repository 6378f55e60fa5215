import {
  InboxConflictError,
  InboxRefusedError,
  InboxUnavailableError,
  type PublishOutcome,
} from 'nestjs-transactional-outbox';
import { InProcessTransport } from 'nestjs-transactional-outbox/in-process';
import { describe, expect, it } from 'vitest';
import { outgoingEvent, publishOne } from '../integration/transport-events.js';

/** A transport of an application whose inbox answers so, and how often it was asked. */
function answeredWith(answer: () => Promise<'processed' | 'duplicate'>): {
  readonly transport: InProcessTransport;
  asked: number;
} {
  const started = { transport: new InProcessTransport(), asked: 0 };
  started.transport.attach({
    destination: 'shipping',
    types: ['order.placed'],
    findAll: <T>() => [
      // The one thing that it looks for.
      {
        typesOf: () => new Set(['order.placed']),
        handle: () => {
          started.asked += 1;
          return answer();
        },
      } as T,
    ],
  });
  return started;
}

describe('InProcessTransport, by what the inbox answers', () => {
  it.each<[string, () => Promise<'processed' | 'duplicate'>, PublishOutcome]>([
    ['processed: delivered', async () => 'processed', { kind: 'delivered' }],
    ['processed before: delivered, and told', async () => 'duplicate', { kind: 'delivered', duplicate: true }],
    [
      'being processed elsewhere, or the database is away: put off, without an attempt',
      () => Promise.reject(new InboxUnavailableError('busy', 7)),
      { kind: 'defer', reason: expect.stringContaining('busy'), delayMs: 7000 },
    ],
    [
      'refused: dead',
      () => Promise.reject(new InboxRefusedError('no such field', 422)),
      { kind: 'dead', error: expect.stringContaining('no such field') },
    ],
    [
      'the id of another event: dead',
      () => Promise.reject(new InboxConflictError('shipping', 'e1')),
      { kind: 'dead', error: expect.stringContaining('different content') },
    ],
    [
      'a failure of the handler: tried again',
      () => Promise.reject(new Error('no paper')),
      { kind: 'retry', error: expect.stringContaining('no paper') },
    ],
  ])('%s', async (_, answer, outcome) => {
    expect(await publishOne(answeredWith(answer).transport)).toEqual(outcome);
  });

  it('called off before it began, no handler is called', async () => {
    const started = answeredWith(async () => 'processed');
    expect(await publishOne(started.transport, outgoingEvent(), AbortSignal.abort())).toEqual({ kind: 'held' });
    expect(started.asked).toBe(0);
  });

  it('called off while the handler runs, it does not wait for it', async () => {
    const started = answeredWith(() => new Promise(() => undefined));
    const outcome = await publishOne(started.transport, outgoingEvent(), AbortSignal.timeout(10));
    expect(outcome).toMatchObject({ kind: 'retry' });
  });
});
