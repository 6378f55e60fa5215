import { Logger } from '@nestjs/common';
import type { DestinationOptions } from 'nestjs-transactional-outbox';
import { resolveDestination } from '../../libs/outbox/src/config/resolve-destination.js';
import { Breaker } from '../../libs/outbox/src/dispatch/breaker.js';
import { DestinationDispatch } from '../../libs/outbox/src/dispatch/destination-dispatch.js';
import { DispatchLog } from '../../libs/outbox/src/dispatch/dispatch-log.js';
import type { DispatchSummary } from '../../libs/outbox/src/dispatch/dispatch-summary.js';
import type { OnDead } from '../../libs/outbox/src/event/index.js';
import { systemRandom } from '../../libs/outbox/src/runtime/index.js';
import { OutboxTelemetry } from '../../libs/outbox/src/telemetry/index.js';
import { DESTINATION, type QueueStore } from './outbox-queue.js';

/** Remembers what the dispatcher logged, a line each, and prints nothing. */
export class RecordingLogger extends Logger {
  readonly lines: string[] = [];

  override log(message: unknown): void {
    this.lines.push(`log ${String(message)}`);
  }

  override warn(message: unknown): void {
    this.lines.push(`warn ${String(message)}`);
  }

  override error(message: unknown): void {
    this.lines.push(`error ${String(message)}`);
  }
}

export interface BareDispatcherOptions extends DestinationOptions {
  readonly store: QueueStore;
  readonly owner?: string;
  readonly onDead?: OnDead | ((type: string | undefined) => OnDead);
}

/** The dispatch of one destination over a store of the test's choice: no timer, no loop, no Nest. */
export class BareDispatcher {
  readonly logger = new RecordingLogger();
  private readonly draining = new AbortController();
  private readonly cutOff = new AbortController();
  private readonly dispatch: DestinationDispatch;

  constructor({ store, owner = 'bare', onDead = 'block', ...options }: BareDispatcherOptions) {
    const destination = resolveDestination(DESTINATION, options);
    const log = new DispatchLog(this.logger, DESTINATION);
    this.dispatch = new DestinationDispatch({
      destination,
      store,
      owner,
      breaker: new Breaker(destination, store.breakers, log, systemRandom),
      log,
      telemetry: new OutboxTelemetry().ofDestination(DESTINATION),
      onDead: typeof onDead === 'function' ? onDead : () => onDead,
      random: systemRandom,
      onDelivered: () => undefined,
    });
  }

  /** One claim and what becomes of it; undefined when nothing was due. */
  dispatchOnce(): Promise<DispatchSummary | undefined> {
    return this.dispatch.dispatchOnce(this.draining.signal, this.cutOff.signal);
  }

  drain(): Promise<DispatchSummary> {
    return this.dispatch.drain(this.draining.signal, this.cutOff.signal);
  }

  /** How long a loop would sleep; undefined for until it is woken. */
  dueInMs(): number | undefined {
    return this.dispatch.dueInMs();
  }

  /** Starts nothing more, as a dispatcher that is shutting down. */
  startDraining(): void {
    this.draining.abort();
  }

  /** Interrupts what runs, as at the end of the grace. */
  interrupt(): void {
    this.cutOff.abort(new Error('the grace is over'));
  }
}
