import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Rescan } from '../../libs/outbox/src/dispatch/wake-up/rescan.js';
import { WakeUpNotifier } from '../../libs/outbox/src/dispatch/wake-up/wake-up-notifier.js';
import { RecordingLogger } from '../support/bare-dispatcher.js';

describe('the notifications of a process', () => {
  let at: { readonly ms: number; readonly destinations: readonly string[] }[];
  let answer: () => Promise<void>;
  let logger: RecordingLogger;
  let notifier: WakeUpNotifier;
  beforeEach(() => {
    vi.useFakeTimers();
    at = [];
    answer = async () => undefined;
    logger = new RecordingLogger();
    const startedAt = performance.now();
    notifier = new WakeUpNotifier(
      {
        query: async (_, [, destinations]) => {
          at.push({ ms: Math.round(performance.now() - startedAt), destinations: destinations as string[] });
          await answer();
          return { rows: [] };
        },
      },
      'channel',
      logger,
    );
  });
  afterEach(() => void vi.useRealTimers());

  it('the first of a quiet period goes at once, what follows within 5 ms is one', async () => {
    notifier.notify('a');
    expect(at).toEqual([{ ms: 0, destinations: ['a'] }]);
    await vi.advanceTimersByTimeAsync(1);
    for (const destination of ['b', 'a', 'b']) notifier.notify(destination);
    await vi.advanceTimersByTimeAsync(3);
    expect(at).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(at.slice(1)).toEqual([{ ms: 5, destinations: ['b', 'a'] }]);
    await vi.advanceTimersByTimeAsync(100);
    notifier.notify('c');
    expect(at.slice(2)).toEqual([{ ms: 105, destinations: ['c'] }]);
  });

  it('are at most 200 statements a second, however many commits there are', async () => {
    for (let ms = 0; ms < 1000; ms += 1) {
      notifier.notify('a');
      notifier.notify('b');
      await vi.advanceTimersByTimeAsync(1);
    }
    expect(at.length).toBeGreaterThan(190);
    expect(at.length).toBeLessThanOrEqual(201);
  });

  it('never take more than one connection: while one is on its way, the next one waits', async () => {
    let arrive = (): void => undefined;
    answer = () =>
      new Promise((resolve) => {
        arrive = resolve;
      });
    notifier.notify('a');
    for (let ms = 0; ms < 100; ms += 1) {
      notifier.notify('b');
      await vi.advanceTimersByTimeAsync(1);
    }
    expect(at).toHaveLength(1);
    arrive();
    await vi.advanceTimersByTimeAsync(0);
    expect(at.slice(1)).toEqual([{ ms: 100, destinations: ['b'] }]);
    arrive();
    await vi.advanceTimersByTimeAsync(5);
  });

  it('that fail are complained of once until one succeeds, and hold up nothing', async () => {
    answer = () => Promise.reject(new Error('the database is away'));
    for (let count = 0; count < 10; count += 1) {
      notifier.notify('a');
      await vi.advanceTimersByTimeAsync(10);
    }
    expect(at).toHaveLength(10);
    expect(logger.lines).toHaveLength(1);
    expect(logger.lines[0]).toContain('wake-up not sent');
    answer = async () => undefined;
    notifier.notify('a');
    await vi.advanceTimersByTimeAsync(10);
    answer = () => Promise.reject(new Error('the database is away'));
    notifier.notify('a');
    await vi.advanceTimersByTimeAsync(10);
    expect(logger.lines).toHaveLength(2);
  });

  it('that wait are sent at the end without delay, and a database that does not answer is not waited for', async () => {
    notifier.notify('a');
    notifier.notify('b');
    await notifier.stop();
    expect(at.map(({ ms, destinations }) => [ms, destinations])).toEqual([
      [0, ['a']],
      [0, ['b']],
    ]);
    answer = () => new Promise(() => undefined);
    notifier.notify('c');
    const stopped = notifier.stop();
    await vi.advanceTimersByTimeAsync(2000);
    await stopped;
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe('the second look after a wake-up', () => {
  let looks: string[];
  let rescan: Rescan;
  beforeEach(() => {
    vi.useFakeTimers();
    looks = [];
    rescan = new Rescan(new Set(['a', 'b']), (destination) => looks.push(destination));
  });
  afterEach(() => {
    rescan.stop();
    expect(vi.getTimerCount()).toBe(0);
    vi.useRealTimers();
  });

  it('comes once, a few milliseconds later, for the destination that was woken', () => {
    rescan.wake('a');
    expect(looks).toEqual(['a']);
    vi.advanceTimersByTime(4);
    expect(looks).toEqual(['a']);
    vi.advanceTimersByTime(1);
    expect(looks).toEqual(['a', 'a']);
    vi.advanceTimersByTime(1_000_000);
    expect(looks).toHaveLength(2);
  });

  it('is one for all wake-ups that come close together', () => {
    for (let ms = 0; ms < 1000; ms += 1) {
      rescan.wake('a');
      vi.advanceTimersByTime(1);
    }
    expect(looks).toHaveLength(1000);
    vi.advanceTimersByTime(1000);
    expect(looks).toHaveLength(1001);
  });

  it('comes for every destination when nobody knows which one has work', () => {
    rescan.wake(undefined);
    vi.advanceTimersByTime(5);
    expect(looks.toSorted()).toEqual(['a', 'a', 'b', 'b']);
  });

  it('does not come for what is unknown, nor after the end', () => {
    rescan.wake('elsewhere');
    rescan.wake('a');
    rescan.stop();
    rescan.wake('b');
    vi.advanceTimersByTime(1000);
    expect(looks).toEqual(['a']);
  });
});
