import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { LookPacer } from '../../libs/outbox/src/dispatch/wake-up/look-pacer.js';
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

  it.each([
    { commitsPerMs: 0.2, atMost: 201, atLeast: 190 },
    { commitsPerMs: 1, atMost: 201, atLeast: 190 },
    { commitsPerMs: 10, atMost: 45, atLeast: 40 },
  ])('are $atMost statements a second at most, with $commitsPerMs commits a ms', async (load) => {
    for (let commit = 0; commit < 1000 * load.commitsPerMs; commit += 1) {
      notifier.notify('a');
      await vi.advanceTimersByTimeAsync(1 / load.commitsPerMs);
    }
    expect(at.length).toBeGreaterThanOrEqual(load.atLeast);
    expect(at.length).toBeLessThanOrEqual(load.atMost);
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

describe('the looks that wake-ups ask for', () => {
  let looks: string[];
  let pacer: LookPacer;
  beforeEach(() => {
    vi.useFakeTimers();
    looks = [];
    pacer = new LookPacer(new Set(['a', 'b']), (destination) => looks.push(destination));
  });
  afterEach(() => {
    pacer.stop();
    expect(vi.getTimerCount()).toBe(0);
    vi.useRealTimers();
  });

  it('come at once and a second time a few milliseconds later, for the destination that was woken', () => {
    pacer.wake('a');
    expect(looks).toEqual(['a']);
    vi.advanceTimersByTime(4);
    expect(looks).toEqual(['a']);
    vi.advanceTimersByTime(1);
    expect(looks).toEqual(['a', 'a']);
    vi.advanceTimersByTime(1_000_000);
    expect(looks).toHaveLength(2);
  });

  it('are one for all wake-ups that come close together, and one more after the last', () => {
    for (let ms = 0; ms < 1000; ms += 1) {
      pacer.wake('a');
      vi.advanceTimersByTime(1);
    }
    expect(looks).toHaveLength(201);
    vi.advanceTimersByTime(5);
    expect(looks).toHaveLength(202);
    vi.advanceTimersByTime(1000);
    expect(looks).toHaveLength(202);
  });

  it('are fewer the more wake-ups come, down to one in 25 ms', () => {
    for (let ms = 0; ms < 1000; ms += 1) {
      for (let count = 0; count < 10; count += 1) pacer.wake('a');
      vi.advanceTimersByTime(1);
    }
    expect(looks.length).toBeGreaterThanOrEqual(40);
    expect(looks.length).toBeLessThanOrEqual(43);
  });

  it('do not wait for those of another destination', () => {
    pacer.wake('a');
    pacer.wake('b');
    expect(looks).toEqual(['a', 'b']);
  });

  it('are for every destination when nobody knows which one has work', () => {
    pacer.wake(undefined);
    vi.advanceTimersByTime(5);
    expect(looks.toSorted()).toEqual(['a', 'a', 'b', 'b']);
  });

  it('are not for what is unknown, nor after the end', () => {
    pacer.wake('elsewhere');
    pacer.wake('a');
    pacer.stop();
    pacer.wake('b');
    vi.advanceTimersByTime(1000);
    expect(looks).toEqual(['a']);
  });
});
