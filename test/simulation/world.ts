import { resolveOptions } from '../../libs/outbox/src/config/index.js';
import { type EventEnvelope, orderingKey } from '../../libs/outbox/src/event/index.js';
import {
  InMemoryBreakerStore,
  InMemoryDeadLetterStore,
  InMemoryDeliveryStore,
  InMemoryQueue,
} from '../../libs/outbox/src/testing/index.js';
import { CheckedStore, type Store } from './checked-store.js';
import { Ledger } from './ledger.js';
import { Network } from './network.js';
import { type Handouts, RemoteStore } from './remote-store.js';
import { drawScenario, type PlannedEvent, type Scenario } from './scenario.js';
import { SeededRandom } from './seeded-random.js';
import { SimulatedDestination } from './simulated-destination.js';
import { type Connection, SimulatedDispatcher } from './simulated-dispatcher.js';
import { SimulatedOperator } from './simulated-operator.js';
import { SimulatedTransport } from './simulated-transport.js';
import { Trace } from './trace.js';
import { VirtualTime } from './virtual-time.js';

const DESTINATION = 'simulated';
const EPOCH_MS = Date.UTC(2026, 0, 1);

/** Puts a bug into the store; the checks must find it. */
export type Plant = (queue: InMemoryQueue, store: Store) => Store;

/** Everything of one run, and what can happen to it. */
export class World {
  readonly time = new VirtualTime();
  readonly trace = new Trace(this.time);
  readonly ledger = new Ledger();
  readonly violations: string[] = [];
  readonly scenario: Scenario;
  readonly queue: InMemoryQueue;
  private readonly random: SeededRandom;
  private readonly database: CheckedStore;
  private readonly network: Network;
  private readonly destination: SimulatedDestination;
  private readonly operator: SimulatedOperator;
  private readonly handouts: Handouts = new WeakMap();
  private readonly poisonous = new Set<string>();
  private readonly dispatchers: SimulatedDispatcher[] = [];
  private readonly aggregateIds: readonly string[];
  private clockOffsetMs = 0;
  private started = 0;

  constructor(seed: number, plant: Plant) {
    this.random = new SeededRandom(seed);
    this.scenario = drawScenario(this.random);
    this.aggregateIds = aggregatesOf(this.scenario);
    this.queue = new InMemoryQueue(() => EPOCH_MS + this.time.now + this.clockOffsetMs);
    const { time, random, scenario, ledger, trace, poisonous, complain } = this;
    const store = plant(this.queue, inMemoryStore(this.queue, scenario));
    this.database = new CheckedStore(this.queue, store, ledger, complain);
    this.network = new Network(time, random, scenario);
    this.destination = new SimulatedDestination({ time, random, scenario, ledger, trace, poisonous, complain });
    const letters = new InMemoryDeadLetterStore(this.queue);
    this.operator = new SimulatedOperator({ letters, database: this.database, ledger, random, trace });
  }

  readonly complain = (problem: string): void => {
    this.trace.note('CHECK', `VIOLATION: ${problem}`);
    this.violations.push(problem);
  };

  dispatcher(index: number): SimulatedDispatcher | undefined {
    return this.dispatchers[index];
  }

  startMissing(): void {
    for (let index = 0; index < this.scenario.dispatchers; index += 1) this.start(index);
  }

  /** Nothing to do while the one before it still runs. */
  start(index: number): void {
    if (this.dispatchers[index]?.isDead === false) return;
    this.started += 1;
    const dispatcher = new SimulatedDispatcher({
      name: `d${index + 1}.${this.started}`,
      time: this.time,
      trace: this.trace,
      pollMs: this.scenario.pollMs,
      random: this.random.next,
      onDead: (type) => (type === 'skipping' ? 'skip' : 'block'),
      onFault: (error) => this.complain(`the dispatcher threw: ${error instanceof Error ? error.stack : 'no error'}`),
      connect: (process) => this.connect(process, index),
    });
    this.dispatchers[index] = dispatcher;
    dispatcher.start();
  }

  crash(index: number): void {
    this.dispatchers[index]?.crash();
    this.ledger.counts.crashes += 1;
  }

  emit({ aggregate, type, bytes }: PlannedEvent): void {
    const number = this.ledger.entries.size + 1;
    const envelope: EventEnvelope = {
      id: `event-${number}`,
      type,
      aggregateType: 'aggregate',
      aggregateId: this.aggregateIds[aggregate ?? 0] ?? '',
      payload: {},
      headers: {},
      version: 1,
      sequence: aggregate === undefined ? undefined : BigInt(number),
      createdAt: new Date(this.queue.clock()),
    };
    const id = this.queue.put({ destination: DESTINATION, envelope, payloadBytes: bytes });
    const row = this.queue.deliveries.get(id);
    if (row === undefined) throw new Error('the event was not stored');
    this.ledger.open(row);
    if (this.random.chance(this.scenario.faults.poison)) this.poisonous.add(id);
    const about = aggregate === undefined ? 'unordered' : `aggregate ${aggregate}, lane ${row.lane}, ${type}`;
    this.trace.note('', `emitted ${id}: ${about}`);
    if (this.random.chance(0.5)) for (const dispatcher of this.dispatchers) dispatcher.wake();
  }

  stepClock(byMs: number): void {
    this.trace.note('', `the clock of the database steps by ${byMs} ms`);
    this.clockOffsetMs += byMs;
  }

  /** A person looks at the dead letters. */
  decide(): void {
    this.operator.decide();
  }

  /** From now on nothing goes wrong any more, and somebody cares for what went wrong before. */
  calm(): void {
    this.trace.note('', 'nothing goes wrong any more');
    this.network.calm();
    this.destination.calm();
    const care = (): void => {
      this.startMissing();
      this.operator.decideAboutAll();
      this.time.after(100, care);
    };
    care();
  }

  private connect(process: SimulatedDispatcher, index: number): Connection {
    const { time, ledger, network, handouts, trace, scenario, destination, complain } = this;
    const { contention } = scenario.faults;
    const now = (): number => time.now;
    const store = new RemoteStore({ process, store: this.database, network, ledger, handouts, trace, now, contention });
    const isCutOff = scenario.faults.cutOffDispatcher === index;
    const parts = { process, destination, isCutOff, time, ledger, handouts, trace, complain };
    const transport = new SimulatedTransport(scenario.capabilities, parts);
    const resolved = resolveOptions({
      destinations: { [DESTINATION]: { ...scenario.destination, transport } },
      routes: [],
      maxPayloadBytes: scenario.destination.batchBytes,
    }).destinations.get(DESTINATION);
    if (resolved === undefined) throw new Error('the destination was not resolved');
    return { destination: resolved, store, breakers: store };
  }
}

function inMemoryStore(queue: InMemoryQueue, { completion }: Scenario): Store {
  const deliveries = new InMemoryDeliveryStore(queue, completion);
  const breakers = new InMemoryBreakerStore(queue);
  return {
    prepare: (destination) => deliveries.prepare(destination),
    claim: (request) => deliveries.claim(request),
    renew: (claim, ids, leaseMs) => deliveries.renew(claim, ids, leaseMs),
    finalize: (claim, outcomes) => deliveries.finalize(claim, outcomes),
    finalizeAndClaim: (claim, outcomes, request) => deliveries.finalizeAndClaim(claim, outcomes, request),
    unblock: (ids) => deliveries.unblock(ids),
    trip: (request) => breakers.trip(request),
    close: (destination) => breakers.close(destination),
    giveProbeBack: (destination) => breakers.giveProbeBack(destination),
  };
}

/** Two aggregates whose keys share a lane, or do not. */
function aggregatesOf({ doAggregatesShareLane }: Scenario): string[] {
  const laneOf = (id: string): bigint => BigInt(orderingKey('aggregate', id)) & 31n;
  for (let number = 1; ; number += 1) {
    if ((laneOf('0') === laneOf(String(number))) === doAggregatesShareLane) return ['0', String(number)];
  }
}
