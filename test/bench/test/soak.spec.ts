import { describe, expect, it } from 'vitest';
import { CommitLatency } from '../src/soak/commit-latency.js';
import type { SoakSample } from '../src/soak/sampler.js';
import { planSoak } from '../src/soak/soak-plan.js';
import { judge } from '../src/soak/verdict.js';

const STEADY: Omit<SoakSample, 'minute'> = {
  emittedPerSecond: 200,
  steadyPerSecond: 200,
  shakyPerSecond: 200,
  p50Ms: 1,
  p99Ms: 4,
  queueMebibytes: 8,
  logMebibytes: 20,
  queueDeadTuples: 0,
  logDeadTuples: 500,
  backlog: 0,
  residentMebibytes: 150,
  heapMebibytes: 50,
  openHandles: 20,
  connections: 14,
};

describe('the soak', () => {
  const plan = planSoak(30);

  const judged = (at: (minute: number) => Partial<SoakSample>): string[] => {
    const samples = Array.from({ length: 180 }, (_, index) => {
      const minute = (index + 1) / 6;
      return { ...STEADY, minute, ...at(minute) };
    });
    return judge(samples, plan)
      .filter(({ isMet }) => !isMet)
      .map(({ name }) => name);
  };

  it('compares the first five minutes with the last five, each of which has two whole outages', () => {
    expect(plan).toMatchObject({ windowMs: 300_000, sampleMs: 10_000, outageEveryMs: 150_000, outageMs: 20_000 });
    for (const minutes of [1, 7, 30, 600]) {
      const { windowMs, outageEveryMs, durationMs } = planSoak(minutes);
      expect(windowMs / outageEveryMs).toBe(2);
      expect(durationMs).toBeGreaterThanOrEqual(3 * windowMs);
    }
  });

  it('what stays as it was is flat', () => {
    expect(judged(() => ({}))).toEqual([]);
  });

  it('a heap that grows by two percent of itself a minute is not flat, and is named', () => {
    expect(judged((minute) => ({ heapMebibytes: 50 + minute }))).toEqual(['heap in use']);
  });

  it('a table that goes up and down is flat, one whose peak has doubled is not', () => {
    expect(judged((minute) => ({ queueMebibytes: 8 + (minute % 2) }))).toEqual([]);
    expect(judged((minute) => ({ queueMebibytes: minute > 29 ? 18 : 8 }))).toEqual(['queue table']);
  });

  it('deliveries that fall behind are not flat', () => {
    expect(judged((minute) => ({ steadyPerSecond: minute > 25 ? 180 : 200 }))).toEqual(['delivered, healthy']);
  });

  it('a window without dead rows is better than any, not incomparable', () => {
    expect(judged((minute) => ({ logDeadTuples: minute > 20 ? 0 : 500 }))).toEqual([]);
  });

  it('latency runs from the commit to the publish, and is none when the publish was told first', () => {
    const latency = new CommitLatency();
    latency.committed('a', 100);
    latency.published('a', 103);
    latency.published('b', 200);
    latency.committed('b', 201);
    expect(latency.take()).toEqual({ p50: 1.5, p99: expect.closeTo(2.97) });
    expect(latency.take().p50).toBeNaN();
  });
});
