import { type EventEnvelope, orderingKey } from '../event/index.js';

/** As many as the tables have; the store contract suite compares the lanes of both. */
const LANES = 32;

/** Milliseconds since 1970; what the database's clock is to PostgreSQL. */
export type Clock = () => number;

export interface InMemoryDelivery {
  readonly id: string;
  readonly destination: string;
  readonly envelope: EventEnvelope;
  readonly payloadBytes: number;
  /** Undefined for unordered events. */
  readonly orderingKey: string | undefined;
  readonly lane: number | undefined;
  readonly createdAt: number;
  status: 'pending' | 'dead' | 'done';
  /** While it waits or is dead, later events of its key stay where they are. */
  holdsKey: boolean;
  attempts: number;
  /** Number of the change by hand that it was last sent by; 0 for none. */
  redrives: number;
  availableAt: number;
  leaseUntil: number | undefined;
  /** Of the last claim, also when its lease is over; 0 before the first one. */
  token: number;
  lastError: string | undefined;
}

export interface InMemoryLane {
  readonly destination: string;
  readonly lane: number;
  leaseUntil: number | undefined;
  token: number;
  /** Time of its last claim, which says whose turn it is; before the first one a small number. */
  claimedAt: number;
}

export interface InMemoryDestination {
  failures: number;
  resumeAt: number;
}

export interface NewDelivery {
  readonly destination: string;
  /** One with a `sequence` is ordered within its aggregate. */
  readonly envelope: EventEnvelope;
  readonly payloadBytes: number;
}

/**
 * The state that the in-memory stores share, as the tables are to the PostgreSQL stores. Nothing in it waits, so every
 * operation of a store is atomic.
 */
export class InMemoryQueue {
  /** Oldest first; ids count up. */
  readonly deliveries = new Map<string, InMemoryDelivery>();
  readonly lanes: InMemoryLane[] = [];
  readonly destinations = new Map<string, InMemoryDestination>();
  /** Deliveries that are done, with completion `archive`, and those that were discarded. */
  readonly archive: InMemoryDelivery[] = [];
  private lastId = 0;
  private lastToken = 0;
  private lastOperation = 0;

  constructor(readonly clock: Clock) {}

  /** @returns the id of the delivery. */
  put({ destination, envelope, payloadBytes }: NewDelivery): string {
    this.lastId += 1;
    const id = String(this.lastId);
    const key = envelope.sequence === undefined ? undefined : orderingKey(envelope.aggregateType, envelope.aggregateId);
    const now = this.clock();
    this.deliveries.set(id, {
      id,
      destination,
      envelope,
      payloadBytes,
      orderingKey: key,
      lane: key === undefined ? undefined : laneOf(key),
      createdAt: now,
      status: 'pending',
      holdsKey: false,
      attempts: 0,
      redrives: 0,
      availableAt: now,
      leaseUntil: undefined,
      token: 0,
      lastError: undefined,
    });
    return id;
  }

  prepare(destination: string): void {
    if (this.destinations.has(destination)) return;
    this.destinations.set(destination, { failures: 0, resumeAt: 0 });
    for (let lane = 0; lane < LANES; lane += 1)
      this.lanes.push({ destination, lane, leaseUntil: undefined, token: 0, claimedAt: lane });
  }

  nextToken(): number {
    this.lastToken += 1;
    return this.lastToken;
  }

  /** Number of a change by hand. */
  nextOperation(): number {
    this.lastOperation += 1;
    return this.lastOperation;
  }

  /** Oldest first. */
  deliveriesOf(destination: string): InMemoryDelivery[] {
    return [...this.deliveries.values()].filter((one) => one.destination === destination);
  }

  laneOf(destination: string, lane: number | undefined): InMemoryLane | undefined {
    return this.lanes.find((one) => one.destination === destination && one.lane === lane);
  }
}

/** The low bits of the key's two's complement, as PostgreSQL's `&` takes them. */
function laneOf(key: string): number {
  return Number(BigInt(key) & BigInt(LANES - 1));
}
