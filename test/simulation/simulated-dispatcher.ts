import { Logger } from '@nestjs/common';
import type { ResolvedDestination } from '../../libs/outbox/src/config/index.js';
import { Breaker } from '../../libs/outbox/src/dispatch/breaker.js';
import { DestinationDispatch } from '../../libs/outbox/src/dispatch/destination-dispatch.js';
import { DestinationLoop } from '../../libs/outbox/src/dispatch/destination-loop.js';
import { DispatchLog } from '../../libs/outbox/src/dispatch/dispatch-log.js';
import type { OnDead } from '../../libs/outbox/src/event/index.js';
import type { Random } from '../../libs/outbox/src/runtime/index.js';
import type { BreakerStore, DeliveryStore } from '../../libs/outbox/src/store/index.js';
import { OutboxTelemetry } from '../../libs/outbox/src/telemetry/index.js';
import type { Trace } from './trace.js';
import type { Owner, VirtualTime } from './virtual-time.js';

/** The destination and the stores as one process reaches them. */
export interface Connection {
  readonly destination: ResolvedDestination;
  readonly store: DeliveryStore;
  readonly breakers: BreakerStore;
}

export interface SimulatedDispatcherParts {
  readonly name: string;
  readonly time: VirtualTime;
  readonly trace: Trace;
  readonly pollMs: number;
  readonly random: Random;
  readonly onDead: (type: string | undefined) => OnDead;
  readonly onFault: (error: unknown) => void;
  readonly connect: (process: SimulatedDispatcher) => Connection;
}

/** A process with the real dispatcher code in it. It can die, stand still, or shut down, and does not come back. */
export class SimulatedDispatcher implements Owner {
  isDead = false;
  stalledUntil = 0;
  private readonly draining = new AbortController();
  private readonly cutOff = new AbortController();
  private loop: DestinationLoop | undefined;

  constructor(private readonly parts: SimulatedDispatcherParts) {}

  get name(): string {
    return this.parts.name;
  }

  get isStopping(): boolean {
    return this.draining.signal.aborted;
  }

  start(): void {
    this.parts.trace.note(this.name, 'starts');
    this.parts.time.as(this, () => void this.dispatch());
  }

  /** Somebody says that there is work. */
  wake(): void {
    if (!this.isDead) this.parts.time.as(this, () => this.loop?.wake());
  }

  /** From one moment to the next nothing of it happens any more; what it had sent is on its way. */
  crash(): void {
    if (this.isDead) return;
    this.parts.trace.note(this.name, 'crashes');
    this.isDead = true;
  }

  stall(ms: number): void {
    if (this.isDead) return;
    this.parts.trace.note(this.name, `stands still for ${ms} ms`);
    this.stalledUntil = this.parts.time.now + ms;
  }

  /** As the engine stops its loops: nothing new, a grace for what runs, then it is interrupted. */
  shutDown(graceMs: number): void {
    const { time, trace } = this.parts;
    if (this.isDead || this.isStopping) return;
    trace.note(this.name, `shuts down within ${graceMs} ms`);
    time.as(this, () => this.draining.abort());
    void time.noticed(this, graceMs).then(() => {
      trace.note(this.name, 'grace is over');
      time.as(this, () => this.cutOff.abort(new Error('the dispatcher is shutting down')));
    });
  }

  private async dispatch(): Promise<void> {
    const { trace, onDead, onFault, random, pollMs, connect } = this.parts;
    const { destination, store, breakers } = connect(this);
    const log = new DispatchLog(new TraceLogger(this.name, trace), destination.name);
    const breaker = new Breaker(destination, breakers, log, random);
    const telemetry = new OutboxTelemetry().ofDestination(destination.name);
    const parts = {
      destination,
      store,
      breaker,
      log,
      telemetry,
      onDead,
      random,
      owner: this.name,
      onDelivered: () => undefined,
    };
    const loop = new DestinationLoop(new DestinationDispatch(parts), this.draining.signal, this.cutOff.signal, onFault);
    this.loop = loop;
    const poll = setInterval(() => loop.wake(), pollMs);
    await loop.run();
    clearInterval(poll);
    trace.note(this.name, 'has shut down');
    this.isDead = true;
  }
}

class TraceLogger extends Logger {
  constructor(
    private readonly process: string,
    private readonly trace: Trace,
  ) {
    super();
  }

  override log(message: unknown): void {
    this.trace.note(this.process, `log: ${String(message)}`);
  }

  override warn(message: unknown): void {
    this.trace.note(this.process, `warn: ${String(message)}`);
  }

  override error(message: unknown): void {
    this.trace.note(this.process, `error: ${String(message)}`);
  }
}
