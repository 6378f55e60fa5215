import type { Logger } from '@nestjs/common';
import type { DataSource } from 'typeorm';
import type { ResolvedOptions } from '../config/index.js';
import { describeError } from '../errors/index.js';
import type { OnDead } from '../event/index.js';
import { logLine, systemRandom } from '../runtime/index.js';
import {
  DispatcherPool,
  type OutboxNames,
  PostgresBreakerStore,
  PostgresDeliveryStore,
  PostgresDestinationStore,
} from '../store/index.js';
import type { OutboxTelemetry } from '../telemetry/index.js';
import { Breaker } from './breaker.js';
import { DestinationDispatch } from './destination-dispatch.js';
import { DestinationLoop } from './destination-loop.js';
import { DispatchLog } from './dispatch-log.js';
import { addSummaries, type DispatchSummary, nothingDispatched } from './dispatch-summary.js';
import { ProgressMeter } from './progress-meter.js';

/** Longest wait for transports to close at the end; a hung one must not keep the process. */
const CLOSE_TIMEOUT_MS = 2000;

/** A started dispatcher: its pool, its destinations and what runs. Made by `start`, ended by `stop`. */
export class DispatcherEngine {
  private readonly draining = new AbortController();
  private readonly cutOff = new AbortController();
  private readonly running = new Set<Promise<unknown>>();
  private readonly pool: DispatcherPool;
  private readonly meters: ProgressMeter[] = [];
  private readonly dispatches: readonly DestinationDispatch[];
  private loops: readonly DestinationLoop[] = [];

  constructor(
    dataSource: DataSource,
    names: OutboxNames,
    private readonly options: ResolvedOptions,
    private readonly logger: Logger,
    telemetry: OutboxTelemetry,
  ) {
    this.pool = new DispatcherPool(dataSource, {
      size: options.dispatcher.poolSize,
      preparesStatements: options.preparesStatements,
      onIdleError: (error) => logger.warn(logLine('dispatcher connection lost', { error: describeError(error) })),
    });
    const store = new PostgresDeliveryStore(this.pool, names, options.completion);
    const breakers = new PostgresBreakerStore(this.pool, names);
    const progress = new PostgresDestinationStore(this.pool, names);
    const onDead = (type: string | undefined): OnDead =>
      (type === undefined ? undefined : options.routes.definitionOf(type)?.onDead) ?? 'block';
    this.dispatches = [...options.destinations.values()].map((destination) => {
      const log = new DispatchLog(logger, destination.name);
      const breaker = new Breaker(destination, breakers, log, systemRandom);
      const owner = options.dispatcher.instanceName;
      const meter = new ProgressMeter(progress, destination.name);
      this.meters.push(meter);
      return new DestinationDispatch({
        destination,
        store,
        breaker,
        log,
        telemetry: telemetry.ofDestination(destination.name),
        owner,
        onDead,
        random: systemRandom,
        onDelivered: (count) => meter.add(count),
      });
    });
  }

  startLoops(): void {
    this.loops = this.dispatches.map(
      (dispatch) =>
        new DestinationLoop(dispatch, this.draining.signal, this.cutOff.signal, (error) =>
          this.reportFault(dispatch.name, error),
        ),
    );
    for (const loop of this.loops) this.track(loop.run());
  }

  /** Wakes the loop of one destination, or all of them. */
  wake(destination?: string): void {
    for (const loop of this.loops) if (destination === undefined || loop.name === destination) loop.wake();
  }

  /** One batch of each destination. */
  async dispatchOnce(): Promise<DispatchSummary> {
    return this.sum(
      this.dispatches.map(
        async (dispatch) =>
          (await dispatch.dispatchOnce(this.draining.signal, this.cutOff.signal)) ?? nothingDispatched,
      ),
    );
  }

  /** Batches of each destination until nothing is due. */
  async drain(): Promise<DispatchSummary> {
    return this.sum(this.dispatches.map((dispatch) => this.drainSideBySide(dispatch)));
  }

  /**
   * Claims nothing more, finishes what runs within the grace, interrupts the rest, writes every outcome, gives back what
   * was not tried, then closes transports and pool.
   */
  async stop(): Promise<void> {
    this.draining.abort();
    const grace = setTimeout(
      () => this.cutOff.abort(new Error('the dispatcher is shutting down')),
      this.options.dispatcher.shutdownGraceMs,
    );
    await Promise.allSettled(this.running);
    clearTimeout(grace);
    await this.closeTransports();
    await Promise.all(this.meters.map((meter) => meter.close()));
    await this.pool.close();
  }

  /** As many batches in flight as the loop would have: a runner that leaves work behind starts the next. */
  private async drainSideBySide(dispatch: DestinationDispatch): Promise<DispatchSummary> {
    const runners: Promise<DispatchSummary>[] = [];
    const start = (): void => {
      if (runners.length < dispatch.batchesInFlight)
        runners.push(dispatch.drain(this.draining.signal, this.cutOff.signal, start));
    };
    start();
    let total = nothingDispatched;
    // The list grows while it is walked.
    for (const runner of runners) total = addSummaries(total, await runner);
    return total;
  }

  private async sum(each: readonly Promise<DispatchSummary>[]): Promise<DispatchSummary> {
    const all = Promise.all(each);
    this.track(all);
    return (await all).reduce(addSummaries, nothingDispatched);
  }

  private track(work: Promise<unknown>): void {
    const tracked: Promise<void> = work
      .then(
        () => undefined,
        () => undefined, // whoever asked for the work gets its error; here only its end matters
      )
      .finally(() => this.running.delete(tracked));
    this.running.add(tracked);
  }

  private async closeTransports(): Promise<void> {
    const timeout = new Promise<void>((resolve) => setTimeout(resolve, CLOSE_TIMEOUT_MS).unref());
    const close = async (dispatch: DestinationDispatch): Promise<void> => {
      try {
        await dispatch.close();
      } catch (error) {
        this.reportFault(dispatch.name, error);
      }
    };
    await Promise.race([Promise.all(this.dispatches.map(close)), timeout]);
  }

  private reportFault(destination: string, error: unknown): void {
    this.logger.error(logLine('dispatcher fault, going on', { destination, error: describeError(error) }));
  }
}
