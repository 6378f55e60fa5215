import type { Completion } from '../../libs/outbox/src/config/index.js';
import type { TransportCapabilities } from '../../libs/outbox/src/transports/index.js';
import type { SeededRandom } from './seeded-random.js';

/** What can go wrong, each by itself; a run has some of them, so that none always hides another. */
export interface Faults {
  /** A call of the database, its statement or its answer, takes up to this long at times. */
  readonly slowCallMs: number;
  /** Probability that a statement fails without effect. */
  readonly failedStatement: number;
  /** Probability that a statement takes effect and its answer is lost. */
  readonly lostAnswer: number;
  /** Probability that a claim meets another one at a lane. */
  readonly contention: number;
  /** Times between which no call of the database succeeds. */
  readonly outages: readonly Span[];
  /** Times between which the destination cannot be reached. */
  readonly downtimes: readonly Span[];
  readonly crashes: readonly Incident[];
  readonly shutdowns: readonly Incident[];
  /** A dispatcher stands still: a blocked event loop, a paused machine. */
  readonly stalls: readonly Incident[];
  /** Steps of the database's clock, forwards and backwards. */
  readonly clockSteps: readonly { readonly at: number; readonly byMs: number }[];
  /** Probability that an event ends the process that publishes it. */
  readonly poison: number;
  /** How the destination answers; weights. */
  readonly answers: Readonly<Record<Answer, number>>;
  /** What becomes of an attempt to connect; weights. */
  readonly connections: Readonly<Record<'connects' | 'fails' | 'hangs', number>>;
  /** A dispatcher that never can connect, not even when nothing else goes wrong any more. */
  readonly cutOffDispatcher: number | undefined;
  /** Times at which a person redrives, discards or unblocks dead letters. */
  readonly decisions: readonly number[];
}

export type Answer = 'accept' | 'slow' | 'retry' | 'unknown' | 'defer' | 'dead' | 'unreachable' | 'throw' | 'hang';

export interface Span {
  readonly from: number;
  readonly until: number;
}

export interface Incident {
  readonly at: number;
  readonly dispatcher: number;
  readonly lastsMs: number;
}

export interface PlannedEvent {
  readonly at: number;
  /** Index of the aggregate; undefined for unordered events. */
  readonly aggregate: number | undefined;
  readonly type: 'blocking' | 'skipping';
  readonly bytes: number;
}

export interface Scenario {
  readonly dispatchers: number;
  readonly destination: {
    readonly leaseMs: number;
    readonly publishTimeoutMs: number;
    readonly batchSize: number;
    readonly batchBytes: number;
    readonly batchesInFlight: number;
    readonly concurrency: number;
    readonly maxAttempts: number;
    readonly retryBaseMs: number;
    readonly retryCapMs: number;
    readonly maxDeferAgeMs: number;
    readonly pauseBaseMs: number;
    readonly pauseCapMs: number;
  };
  readonly capabilities: TransportCapabilities;
  readonly completion: Completion;
  readonly pollMs: number;
  readonly doAggregatesShareLane: boolean;
  readonly events: readonly PlannedEvent[];
  readonly faults: Faults;
  /** From then on nothing goes wrong any more. */
  readonly calmAfterMs: number;
}

const CAPABILITIES: readonly TransportCapabilities[] = [
  { batch: false, keepsOrderPerKey: false, deduplicates: false },
  { batch: true, keepsOrderPerKey: true, deduplicates: false },
  { batch: true, keepsOrderPerKey: false, deduplicates: false },
];

/** Everything about a run that is decided before it begins. */
export function drawScenario(random: SeededRandom): Scenario {
  const calmAfterMs = random.between(2000, 6000);
  const leaseMs = random.pick([150, 300, 600]);
  const dispatchers = random.between(2, 3);
  const faults = drawFaults(random, { calmAfterMs, leaseMs, dispatchers });
  return {
    dispatchers,
    destination: {
      leaseMs,
      publishTimeoutMs: Math.floor(leaseMs * random.pick([0.2, 0.5, 0.9])),
      batchSize: random.between(1, 5),
      batchBytes: random.pick([1024, 1024, 100_000]),
      batchesInFlight: random.between(1, 3),
      concurrency: random.between(1, 3),
      maxAttempts: random.pick([1, 2, 2, 3, 4]),
      retryBaseMs: random.between(10, 60),
      retryCapMs: 300,
      maxDeferAgeMs: random.pick([800, 5000]),
      pauseBaseMs: random.between(30, 100),
      pauseCapMs: random.pick([400, 2500]),
    },
    capabilities: random.pick(CAPABILITIES),
    completion: random.pick(['delete', 'delete', 'keep', 'archive']),
    pollMs: random.between(20, 120),
    doAggregatesShareLane: random.chance(0.4),
    events: drawEvents(random, calmAfterMs, faults),
    faults,
    calmAfterMs,
  };
}

function drawEvents(random: SeededRandom, calmAfterMs: number, { clockSteps }: Faults): PlannedEvent[] {
  const anyTime = Array.from({ length: random.between(4, 9) }, () => random.between(0, calmAfterMs));
  // Just before and after a step of the clock is when their times are out of order.
  const aroundSteps = random.some(clockSteps).flatMap(({ at }) => [Math.max(0, at - 5), at + 5]);
  const bursts = [...anyTime, ...aroundSteps];
  const skips = random.chance(0.4);
  return bursts
    .toSorted((one, other) => one - other)
    .flatMap((at) =>
      Array.from(
        { length: random.between(1, 5) },
        (): PlannedEvent => ({
          at,
          aggregate: random.chance(0.75) ? random.between(0, 1) : undefined,
          type: skips && random.chance(0.5) ? 'skipping' : 'blocking',
          bytes: random.between(50, 700),
        }),
      ),
    );
}

interface Bounds {
  readonly calmAfterMs: number;
  readonly leaseMs: number;
  readonly dispatchers: number;
}

function drawFaults(random: SeededRandom, { calmAfterMs, leaseMs, dispatchers }: Bounds): Faults {
  const isOn = (): boolean => random.chance(0.5);
  const rate = (highest: number): number => (isOn() ? random.next() * highest : 0);
  const times = (most: number): number[] =>
    isOn() ? Array.from({ length: random.between(1, most) }, () => random.between(0, calmAfterMs)) : [];
  const incidents = (most: number, longestMs: number): Incident[] =>
    times(most).map((at) => ({
      at,
      dispatcher: random.between(0, dispatchers - 1),
      lastsMs: random.between(1, longestMs),
    }));
  const spans = (most: number, longestMs: number): Span[] =>
    times(most).map((from) => ({ from, until: from + random.between(20, longestMs) }));
  const weight = (highest: number): number => (isOn() ? random.between(1, highest) : 0);
  return {
    slowCallMs: isOn() ? random.between(20, 2 * leaseMs) : 0,
    failedStatement: rate(0.15),
    lostAnswer: rate(0.15),
    contention: rate(0.2),
    outages: spans(2, leaseMs),
    downtimes: spans(2, 1500),
    crashes: incidents(6, leaseMs),
    shutdowns: incidents(3, leaseMs),
    stalls: incidents(8, 2 * leaseMs),
    clockSteps: times(8).map((at) => ({ at, byMs: random.between(-leaseMs, 2 * leaseMs) })),
    poison: rate(0.15),
    answers: {
      accept: 30,
      slow: weight(10),
      retry: weight(15),
      unknown: weight(8),
      defer: weight(10),
      dead: weight(4),
      unreachable: weight(4),
      throw: weight(6),
      hang: weight(6),
    },
    connections: { connects: 10, fails: weight(4), hangs: weight(2) },
    cutOffDispatcher: random.chance(0.1) ? random.between(0, dispatchers - 1) : undefined,
    decisions: times(6),
  };
}
