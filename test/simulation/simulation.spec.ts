import { describe, expect, it } from 'vitest';
import type { Counts } from './ledger.js';
import { describeRun, isReplay, seeds } from './runs.js';
import { simulate } from './simulation.js';

const MINUTES_MS = 60_000;

describe('dispatchers that crash, stall and lose their database, over any destination', () => {
  const reached = new Map<string, number>();
  const note = (counts: Counts): void => {
    for (const [name, count] of Object.entries(counts)) reached.set(name, Math.max(reached.get(name) ?? 0, count));
  };

  it(
    'deliver every event or make a dead letter of it, in order, under one lease at a time',
    async () => {
      for (const seed of seeds) {
        const run = await simulate(seed);
        note(run.counts);
        if (run.violations.length > 0) expect.fail(describeRun(run));
      }
    },
    60 * MINUTES_MS,
  );

  it.skipIf(isReplay)('meet everything in these runs that could go wrong', () => {
    expect([...reached].filter(([, count]) => count === 0)).toEqual([]);
  });

  it('do the same again with the same seed', async () => {
    const [seed = 1] = seeds;
    expect((await simulate(seed)).trace).toEqual((await simulate(seed)).trace);
  });
});
