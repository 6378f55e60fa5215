import { Logger } from '@nestjs/common';
import type { ModuleRef } from '@nestjs/core';
import type { DispatcherOptions } from 'nestjs-transactional-outbox';
import { MemoryTransport } from 'nestjs-transactional-outbox/memory';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { resolveOptions } from '../../libs/outbox/src/config/index.js';
import { DispatchSchedule } from '../../libs/outbox/src/dispatch/dispatch-schedule.js';
import { type ClaimWatch, watchClaims } from '../support/claim-watch.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { type OutboxApp, startOutboxApp } from '../support/outbox-app.js';
import { SeededRandom } from '../support/seeded-random.js';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.js';

const LISTENING = /outbox-listen/;
/** Without ScheduleModule. */
const NO_SCHEDULER = {
  get: () => {
    throw new Error('not imported');
  },
} as unknown as ModuleRef;

function dispatcherOf(options: DispatcherOptions) {
  const transport = new MemoryTransport();
  return resolveOptions({ destinations: { memory: { transport } }, routes: [], dispatcher: options }).dispatcher;
}

describe('the poll interval', () => {
  it.each<[string, DispatcherOptions, number, number]>([
    ['is 5 s while wake-ups arrive, and 1 s while they do not', {}, 5000, 1000],
    ['is 1 s without wake-ups', { wakeUp: false }, 1000, 1000],
    ['is what is given, in both cases', { pollIntervalMs: 300 }, 300, 300],
    ['is what is given, without wake-ups', { pollIntervalMs: 30_000, wakeUp: false }, 30_000, 30_000],
  ])('%s', (_, options, withWakeUps, without) => {
    const { pollIntervalMs, pollIntervalWithoutWakeUpMs } = dispatcherOf(options);
    expect([pollIntervalMs, pollIntervalWithoutWakeUpMs]).toEqual([withWakeUps, without]);
  });
});

describe('the safety poll', () => {
  const schedules: DispatchSchedule[] = [];
  beforeEach(() => void vi.useFakeTimers());
  afterEach(async () => {
    await Promise.all(schedules.splice(0).map((schedule) => schedule.stop()));
    expect(vi.getTimerCount()).toBe(0);
    vi.useRealTimers();
  });

  const start = async (seed: number, options: DispatcherOptions = {}) => {
    const random = new SeededRandom(seed);
    const ticks: number[] = [];
    const startedAt = Date.now();
    const schedule = new DispatchSchedule('test', dispatcherOf(options), NO_SCHEDULER, () => random.next());
    schedules.push(schedule);
    await schedule.start(() => ticks.push(Date.now() - startedAt));
    const waits = (): number[] => ticks.slice(1).map((tick, index) => tick - (ticks[index] ?? 0));
    return { schedule, ticks, waits };
  };

  it('waits never longer than the interval, and never shorter than three quarters of it', async () => {
    const { ticks, waits } = await start(1, { wakeUp: false });
    vi.advanceTimersByTime(1_000_000);
    expect(ticks[0]).toBeLessThanOrEqual(1000);
    expect(Math.min(...waits())).toBeGreaterThanOrEqual(749);
    expect(Math.min(...waits())).toBeLessThan(760);
    expect(Math.max(...waits())).toBeLessThanOrEqual(1000);
    expect(Math.max(...waits())).toBeGreaterThan(990);
  });

  it('of instances that start, or lose their wake-ups, at the same moment comes at different ones', async () => {
    const all = await Promise.all(Array.from({ length: 20 }, (_, index) => start(index)));
    for (const { schedule } of all) schedule.relyOnWakeUps(true);
    vi.advanceTimersByTime(60_000);
    const together = (from: number, width: number): number =>
      Math.max(
        ...Array.from({ length: Math.ceil(width / 50) }, (_, index) => from + index * 50).map(
          (begin) => all.filter(({ ticks }) => ticks.some((tick) => tick >= begin && tick < begin + 50)).length,
        ),
      );
    expect(together(0, 5000)).toBeLessThan(5);
    for (const { schedule } of all) schedule.relyOnWakeUps(false);
    vi.advanceTimersByTime(10_000);
    expect(together(60_000, 1000)).toBeLessThan(7);
  });

  it('comes every second until wake-ups arrive, every five while they do, every second when they no longer do', async () => {
    const { schedule, ticks } = await start(1);
    const in100s = (): number => {
      ticks.splice(0);
      vi.advanceTimersByTime(100_000);
      return ticks.length;
    };
    expect(in100s()).toBeGreaterThanOrEqual(99);
    schedule.relyOnWakeUps(true);
    expect(in100s()).toBeLessThan(30);
    expect(ticks.length).toBeGreaterThanOrEqual(19);
    schedule.relyOnWakeUps(false);
    expect(in100s()).toBeGreaterThanOrEqual(99);
  });

  it('does not come any more once it is stopped, whatever is heard of wake-ups', async () => {
    const { schedule, ticks } = await start(1);
    await schedule.stop();
    schedule.relyOnWakeUps(true);
    vi.advanceTimersByTime(100_000);
    expect(ticks).toEqual([]);
  });
});

describe('a dispatcher at its defaults', () => {
  let database: TestDatabase;
  let proxy: TcpProxy;
  let watch: ClaimWatch;
  let app: OutboxApp | undefined;
  beforeEach(async () => {
    database = await createTestDatabase();
    proxy = await startTcpProxy(database.url);
    watch = watchClaims();
  });
  afterEach(async () => {
    await app?.close();
    watch.stop();
    await proxy.close();
    await database.drop();
  });

  /** Time between two looks at the queue, and of the ones before it. */
  const waitsBetweenLooks = async (count: number): Promise<number[]> => {
    const at: number[] = [];
    while (at.length <= count) {
      await watch.moreThan(watch.claims);
      at.push(performance.now());
    }
    return at.slice(1).map((time, index) => time - (at[index] ?? 0));
  };

  it('polls every second while it cannot listen, and rests when it can', async () => {
    proxy.refuse(LISTENING);
    app = await startOutboxApp({
      database: { ...database, url: proxy.through(database.url) },
      outbox: { dispatcher: { schedule: 'loop' } },
    });
    expect(Math.max(...(await waitsBetweenLooks(4)))).toBeLessThan(2000);
    const said = vi.spyOn(Logger.prototype, 'log');
    proxy.refuse(undefined);
    await eventually(() => expect(said).toHaveBeenCalledWith('wake-ups of other processes arrive again'));
    said.mockRestore();
    // The first looks that come from now on may be the second one after LISTEN, and the one that waits for less.
    const [, settled] = await waitsBetweenLooks(2);
    expect(settled).toBeGreaterThan(3000);
  }, 40_000);
});
