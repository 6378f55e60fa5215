import { MemoryTransport } from 'nestjs-transactional-outbox/memory';
import { describe, expect, it } from 'vitest';
import { OutboxError } from '../../libs/outbox/src/errors/index.js';
import { eventually } from '../support/eventually.js';
import { outgoingEvent, publishOne } from './transport-events.js';

const open = new AbortController().signal;

describe('MemoryTransport', () => {
  it('accepts and remembers events in the order given', async () => {
    const transport = new MemoryTransport();
    const batch = [outgoingEvent(), outgoingEvent(), outgoingEvent()];
    expect(await transport.publish(batch, open)).toEqual(batch.map(() => ({ kind: 'delivered' })));
    expect(transport.received).toEqual(batch);
    expect(transport.accepted).toEqual(batch);
  });

  it('takes a whole batch before anything else can run, when there is no answer to wait for', async () => {
    const transport = new MemoryTransport();
    const batch = [outgoingEvent(), outgoingEvent(), outgoingEvent()];
    const outcomes = transport.publish(batch, open);
    expect(transport.accepted).toEqual(batch);
    expect(await outcomes).toHaveLength(3);
  });

  it('takes nothing when the call was called off before', async () => {
    const transport = new MemoryTransport();
    expect(await transport.publish([outgoingEvent()], AbortSignal.abort())).toEqual([{ kind: 'held' }]);
    expect(transport.received).toEqual([]);
  });

  it('answers as told, with the attempt of the event', async () => {
    const transport = new MemoryTransport({
      respond: async (_, attempt) =>
        attempt < 3 ? { kind: 'retry', error: `attempt ${attempt}` } : { kind: 'delivered', duplicate: true },
    });
    const event = outgoingEvent();
    expect(await publishOne(transport, event)).toEqual({ kind: 'retry', error: 'attempt 1' });
    expect(await publishOne(transport, { ...event, attempt: 3 })).toEqual({ kind: 'delivered', duplicate: true });
    expect(transport.received).toHaveLength(2);
    expect(transport.accepted).toEqual([{ ...event, attempt: 3 }]);
  });

  it.each(['retry', 'defer', 'dead', 'unreachable', 'held'] as const)(
    'after an ordered event with the outcome %s, the later ones of its aggregate are held and not handed over',
    async (kind) => {
      const transport = new MemoryTransport({
        respond: ({ envelope }) =>
          envelope.type === 'bad' ? { kind, error: 'told so', reason: 'told so', delayMs: 1 } : { kind: 'delivered' },
      });
      const batch = [
        outgoingEvent({ aggregateId: 'a', sequence: 1n }),
        outgoingEvent({ aggregateId: 'a', sequence: 2n, type: 'bad' }),
        outgoingEvent({ aggregateId: 'b', sequence: 1n }),
        outgoingEvent({ aggregateId: 'a', sequence: 3n }),
        outgoingEvent({ aggregateId: 'a', aggregateType: 'invoice', sequence: 1n }),
        outgoingEvent({ aggregateId: 'a' }),
        outgoingEvent({ aggregateId: 'a', sequence: 4n }),
      ];
      const outcomes = await transport.publish(batch, open);
      expect(outcomes.map((outcome) => outcome.kind)).toEqual([
        'delivered',
        kind,
        'delivered',
        'held',
        'delivered',
        'delivered',
        'held',
      ]);
      expect(transport.received).toEqual([0, 1, 2, 4, 5].map((index) => batch[index]));
      expect((await transport.publish(batch.slice(3, 4), open)).map((outcome) => outcome.kind)).toEqual(['delivered']);
    },
  );

  it('an unordered event that fails holds nobody', async () => {
    const transport = new MemoryTransport({
      respond: ({ envelope }) =>
        envelope.type === 'bad' ? { kind: 'retry', error: 'told so' } : { kind: 'delivered' },
    });
    const batch = [outgoingEvent({ aggregateId: 'a', type: 'bad' }), outgoingEvent({ aggregateId: 'a', sequence: 1n })];
    expect((await transport.publish(batch, open)).map(({ kind }) => kind)).toEqual(['retry', 'delivered']);
  });

  it.each([
    [
      'throws',
      () => {
        throw new Error('broken');
      },
    ],
    ['rejects', () => Promise.reject(new Error('broken'))],
  ])('publish rejects when the answer %s, as with a broken transport', async (_, respond) => {
    await expect(publishOne(new MemoryTransport({ respond }))).rejects.toThrow('broken');
  });

  it('an answer that never comes ends with the signal, and the rest is held', async () => {
    const caller = new AbortController();
    const transport = new MemoryTransport({ respond: () => new Promise(() => undefined) });
    const outcomes = transport.publish([outgoingEvent(), outgoingEvent()], caller.signal);
    await eventually(() => expect(transport.received).toHaveLength(1));
    caller.abort();
    expect((await outcomes).map(({ kind }) => kind)).toEqual(['retry', 'held']);
    expect(transport.received).toHaveLength(1);
  });

  describe('waitForCount', () => {
    it('resolves as soon as that many were accepted, not merely handed over', async () => {
      const transport = new MemoryTransport({
        respond: (_, attempt) => (attempt === 1 ? { kind: 'retry', error: 'told so' } : { kind: 'delivered' }),
      });
      const waiting = transport.waitForCount(2, 10_000);
      const events = [outgoingEvent({}, 1), outgoingEvent({}, 2), outgoingEvent({}, 2)];
      await transport.publish(events.slice(0, 2), open);
      expect(await Promise.race([waiting, 'still waiting'])).toBe('still waiting');
      await transport.publish(events.slice(2), open);
      expect(await waiting).toEqual(events.slice(1));
    });

    it('resolves at once when there are enough already', async () => {
      const transport = new MemoryTransport();
      await publishOne(transport);
      expect(await transport.waitForCount(1, 0)).toHaveLength(1);
      expect(await transport.waitForCount(0, 0)).toHaveLength(1);
    });

    it('rejects when the time is over and says how many there were', async () => {
      const transport = new MemoryTransport();
      await publishOne(transport);
      const failure = transport.waitForCount(2, 10);
      await expect(failure).rejects.toThrow(OutboxError);
      await expect(failure).rejects.toThrow('1 of 2 events were accepted within 10 ms');
    });
  });

  it('clear() forgets everything and counts anew', async () => {
    const transport = new MemoryTransport();
    await publishOne(transport);
    const before = transport.received;
    transport.clear();
    expect(transport.received).toEqual([]);
    expect(transport.accepted).toEqual([]);
    await publishOne(transport);
    expect(before).toHaveLength(1);
    expect(await transport.waitForCount(1, 0)).toEqual(transport.received);
  });
});
