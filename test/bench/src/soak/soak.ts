import { setTimeout as wait } from 'node:timers/promises';
import { OutboxService, RetentionService } from 'nestjs-transactional-outbox';
import { DataSource } from 'typeorm';
import type { BenchDatabase } from '../measure/bench-server.js';
import type { Progress } from '../measure/progress.js';
import type { Bench, Target, TargetResult } from '../targets/target.js';
import { CommitLatency } from './commit-latency.js';
import { ConstantLoad } from './load.js';
import { Sampler, type SoakSample } from './sampler.js';
import { startSoakApp } from './soak-app.js';
import { SoakDestination } from './soak-destination.js';
import { planSoak, type SoakPlan } from './soak-plan.js';
import { soakPlots } from './soak-plots.js';
import { judge } from './verdict.js';

const DRAIN_TIMEOUT_MS = 60_000;

/** A mixed load at a constant rate for a long time: nothing may grow, and nothing may get slower. */
export function soak(minutes: number): Target {
  const plan = planSoak(minutes);
  return {
    id: 'SOAK',
    title: `${minutes} minutes of mixed load: nothing grows and nothing gets slower`,
    run: ({ server, progress }: Bench) => server.withDatabase((database) => runSoak(database, plan, progress)),
  };
}

async function runSoak(database: BenchDatabase, plan: SoakPlan, progress: Progress): Promise<TargetResult> {
  const startedAt = performance.now();
  const latency = new CommitLatency();
  const isDown = (): boolean =>
    (performance.now() - startedAt) % plan.outageEveryMs > plan.outageEveryMs - plan.outageMs;
  const steady = new SoakDestination({ onDelivered: ({ id }) => latency.published(id) });
  const shaky = new SoakDestination({ isDown, refuseEvery: 50 });
  const app = await startSoakApp(database, { steady, shaky });
  try {
    const onCommitted = (eventId: string): void => latency.committed(eventId);
    const load = new ConstantLoad(app.get(DataSource), app.get(OutboxService), plan.eventsPerSecond, onCommitted);
    const stop = new AbortController();
    const background = [load.run(stop.signal), pruneRegularly(app.get(RetentionService), plan, stop.signal)];
    const totals = () => ({ emitted: load.emitted, steady: steady.delivered, shaky: shaky.delivered });
    const recording = record(() => new Sampler(database, totals, latency), plan, progress);
    try {
      // The background ends before the recording only by a failure.
      await Promise.race([recording, Promise.all(background)]);
    } finally {
      stop.abort();
      await Promise.allSettled(background);
    }
    await expectAllDelivered(database, load.emitted, [steady, shaky]);
    return resultOf(await recording, plan, load.emitted);
  } finally {
    await app.close();
  }
}

async function record(start: () => Sampler, plan: SoakPlan, progress: Progress): Promise<readonly SoakSample[]> {
  await wait(plan.warmUpMs);
  const sampler = start();
  const samples: SoakSample[] = [];
  const startedAt = performance.now();
  for (let next = plan.sampleMs; next <= plan.durationMs + 1; next += plan.sampleMs) {
    await wait(Math.max(0, startedAt + next - performance.now()));
    const sample = await sampler.sample();
    samples.push(sample);
    if (samples.length % 6 === 0) progress.step(`  ${lineOf(sample)}`);
  }
  return samples;
}

function lineOf({ minute, emittedPerSecond, p50Ms, p99Ms, residentMebibytes, backlog }: SoakSample): string {
  const latencies = `${p50Ms.toFixed(1)} / ${p99Ms.toFixed(1)} ms`;
  const memory = `${residentMebibytes.toFixed(0)} MiB`;
  return `minute ${minute.toFixed(1)}: ${emittedPerSecond.toFixed(0)} events/s, ${latencies}, ${memory}, ${backlog} wait`;
}

async function pruneRegularly(retention: RetentionService, plan: SoakPlan, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await retention.prune({ olderThanMs: Math.round(plan.keepMs) }, signal);
    await wait(plan.pruneEveryMs, undefined, { signal }).catch(() => undefined); // told to stop, which the loop sees
  }
}

/** @throws Error when something was lost, is dead or came out of order: then the figures mean nothing. */
async function expectAllDelivered(
  database: BenchDatabase,
  emitted: number,
  destinations: readonly SoakDestination[],
): Promise<void> {
  const until = performance.now() + DRAIN_TIMEOUT_MS;
  for (let left = Number.NaN; left !== 0; await wait(100)) {
    const [row] = await database.query<{ left: string }>('select count(*) as left from outbox_delivery');
    left = Number(row?.left);
    if (left > 0 && performance.now() > until) throw new Error(`${left} deliveries are left a minute after the load`);
  }
  for (const { delivered, outOfOrder } of destinations) {
    if (outOfOrder > 0) throw new Error(`${outOfOrder} deliveries came out of order`);
    if (delivered < emitted) throw new Error(`${emitted} events were emitted, but ${delivered} delivered`);
  }
}

function resultOf(samples: readonly SoakSample[], plan: SoakPlan, emitted: number): TargetResult {
  const comparisons = judge(samples, plan);
  const missed = comparisons.filter(({ isMet }) => !isMet).map(({ name }) => name);
  const seconds = (ms: number): string => `${Number((ms / 1000).toPrecision(3))} s`;
  return {
    comparisons,
    notes: [
      missed.length === 0 ? 'Flat: every figure stayed within its bound.' : `Not flat: ${missed.join(', ')}.`,
      `First and last mean the first and the last ${seconds(plan.windowMs)} of the recording, which began ${seconds(plan.warmUpMs)} after the load.`,
      `${plan.eventsPerSecond} business transactions per second, each with one event for two destinations, in turn ordered and unordered; ${emitted.toLocaleString('en')} events in all, every one delivered to both, none out of order.`,
      `The failing destination cannot be reached for ${seconds(plan.outageMs)} every ${seconds(plan.outageEveryMs)} and refuses every 50th event once.`,
      `Delivered events older than ${seconds(plan.keepMs)} are pruned every ${seconds(plan.pruneEveryMs)}; completion by delete. The dispatcher and the load run in one process.`,
    ],
    plots: soakPlots(samples),
  };
}
