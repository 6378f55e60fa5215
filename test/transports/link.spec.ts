import { describe, expect, it } from 'vitest';
import { Link } from '../../libs/outbox/src/transports/link.js';
import { outgoingEvent } from '../integration/transport-events.js';

const batch = [outgoingEvent(), outgoingEvent()];
const never = (): Promise<never> => new Promise(() => undefined);
const delivered = async () => batch.map(() => ({ kind: 'delivered' as const }));

describe('what a transport speaks through', () => {
  it('is opened once, whoever asks, and again after it was dropped', async () => {
    let opened = 0;
    const link = new Link({ open: async () => ({ number: ++opened }), close: async () => undefined });
    const [one, same] = await Promise.all([link.get(), link.get()]);
    expect(one).toBe(same);
    link.drop(one);
    expect(await link.get()).toEqual({ number: 2 });
    link.drop(one); // it is another one by now
    expect(await link.get()).toEqual({ number: 2 });
  });

  it('that cannot be opened makes the destination unreachable, and the next publish tries again', async () => {
    let isThere = false;
    const link = new Link({
      open: async () => {
        if (!isThere) throw new Error('nobody is there');
        return {};
      },
      close: async () => undefined,
    });
    const { signal } = new AbortController();
    expect(await link.publish(batch, signal, delivered)).toEqual(
      batch.map(() => ({ kind: 'unreachable', error: expect.stringContaining('nobody is there') })),
    );
    isThere = true;
    expect(await link.publish(batch, signal, delivered)).toEqual(batch.map(() => ({ kind: 'delivered' })));
  });

  it('that does not answer in time is unreachable; called off meanwhile, the events are held', async () => {
    const link = new Link({ open: never, close: async () => undefined });
    const kinds = async (signal: AbortSignal): Promise<string[]> =>
      (await link.publish(batch, signal, delivered)).map(({ kind }) => kind);
    expect(await kinds(AbortSignal.timeout(1))).toEqual(['unreachable', 'unreachable']);
    const call = new AbortController();
    const answer = kinds(call.signal);
    call.abort(new Error('the process ends'));
    expect(await answer).toEqual(['held', 'held']);
  });

  it('is closed with what was still being opened, and not opened any more', async () => {
    const closed: number[] = [];
    const link = new Link({
      open: async () => {
        await new Promise((resolve) => setTimeout(resolve, 5));
        return 7;
      },
      close: async (opened) => void closed.push(opened),
    });
    const opening = link.get();
    await link.close();
    expect(await opening).toBe(7);
    expect(closed).toEqual([7]);
    await expect(link.get()).rejects.toThrow('closed');
    await link.close();
    expect(closed).toEqual([7]);
  });
});
