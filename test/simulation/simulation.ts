import type { Counts } from './ledger.js';
import { type Plant, World } from './world.js';

/** Leases, pauses and back-offs of a scenario end within it many times; 2,000 runs needed 2,300 ms at most. */
const CALM_LIMIT_MS = 6000;

export interface RunResult {
  readonly seed: number;
  readonly violations: readonly string[];
  readonly trace: readonly string[];
  readonly counts: Counts;
}

/** One run, decided by its seed alone: the real dispatcher code over a store, a network and a destination that misbehave. */
export async function simulate(seed: number, plant: Plant = (_, store) => store): Promise<RunResult> {
  const world = new World(seed, plant);
  const uninstall = world.time.install();
  try {
    await runUntilSettled(world);
  } finally {
    uninstall();
  }
  const { violations, trace, ledger } = world;
  return { seed, violations, trace: trace.lines, counts: ledger.counts };
}

async function runUntilSettled(world: World): Promise<void> {
  const { time, ledger, violations, scenario } = world;
  const { calmAfterMs } = scenario;
  plan(world);
  world.startMissing();
  // After the first violation everything that follows is noise.
  const stepWhile = async (goesOn: () => boolean): Promise<void> => {
    while (violations.length === 0 && goesOn()) await time.step();
  };
  await stepWhile(() => time.now < calmAfterMs);
  await stepWhile(() => time.now < calmAfterMs + CALM_LIMIT_MS && hasUnsettled(world));
  ledger.counts.longestCalmMs = time.now - calmAfterMs;
  // What is still on its way must change nothing any more.
  const quietUntil = time.now + 3 * scenario.destination.leaseMs;
  await stepWhile(() => time.now < quietUntil);
  if (violations.length === 0) checkEnd(world);
}

function plan(world: World): void {
  const { time, scenario } = world;
  const { events, faults, calmAfterMs } = scenario;
  time.after(calmAfterMs, () => world.calm());
  for (const event of events) time.after(event.at, () => world.emit(event));
  for (const { at, byMs } of faults.clockSteps) time.after(at, () => world.stepClock(byMs));
  for (const at of faults.decisions) time.after(at, () => world.decide());
  for (const { at, dispatcher, lastsMs } of faults.stalls) {
    time.after(at, () => world.dispatcher(dispatcher)?.stall(lastsMs));
  }
  for (const { at, dispatcher, lastsMs } of faults.crashes) {
    time.after(at, () => world.crash(dispatcher));
    time.after(at + lastsMs, () => world.start(dispatcher));
  }
  for (const { at, dispatcher, lastsMs } of faults.shutdowns) {
    time.after(at, () => world.dispatcher(dispatcher)?.shutDown(lastsMs));
    time.after(at + 2 * lastsMs, () => world.start(dispatcher));
  }
  // Whatever ended a dispatcher, a supervisor starts another one.
  for (let at = 500; at < calmAfterMs; at += 500) time.after(at, () => world.startMissing());
}

function hasUnsettled({ ledger }: World): boolean {
  return [...ledger.entries.values()].some(({ state }) => state !== 'gone');
}

/** Nothing is lost, nothing is left, and nothing is leased for nobody. */
function checkEnd({ ledger, queue, complain }: World): void {
  for (const { id, state, arrivals, isDiscarded } of ledger.entries.values()) {
    if (state !== 'gone') complain(`delivery ${id} is still ${state} although nothing goes wrong any more`);
    else if (arrivals === 0 && !isDiscarded) complain(`delivery ${id} is lost`);
    else if ((queue.deliveries.get(id)?.status ?? 'done') !== 'done') complain(`delivery ${id} came back`);
  }
  for (const { lane, leaseUntil } of queue.lanes) {
    if (leaseUntil !== undefined && leaseUntil >= queue.clock()) complain(`lane ${lane} is leased for nobody`);
  }
}
