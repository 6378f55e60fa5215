import { Logger, type OnApplicationBootstrap, type OnApplicationShutdown, type OnModuleDestroy } from '@nestjs/common';
import type { ModuleRef } from '@nestjs/core';
import type { DataSource } from 'typeorm';
import type { ResolvedOptions } from '../config/index.js';
import { ConfigurationError } from '../errors/index.js';
import { rememberContext, type Signal } from '../runtime/index.js';
import type { OutboxNames } from '../store/index.js';
import type { OutboxTelemetry } from '../telemetry/index.js';
import { attachTransports } from './attach-transports.js';
import { DispatchSchedule } from './dispatch-schedule.js';
import type { DispatchSummary } from './dispatch-summary.js';
import { DispatcherEngine } from './dispatcher-engine.js';
import { WakeUp } from './wake-up/wake-up.js';

export interface OutboxDispatcherParts {
  readonly dataSource: DataSource;
  readonly names: OutboxNames;
  readonly options: ResolvedOptions;
  readonly emitted: Signal<string>;
  readonly moduleRef: ModuleRef;
  readonly telemetry: OutboxTelemetry;
  /** Name of the schedule in the SchedulerRegistry. */
  readonly scheduleName: string;
}

/**
 * The dispatcher (message relay) of one outbox: moves committed events to their destinations, each at least once, by
 * itself or when asked to. Starts with the application unless switched off, and ends with it.
 */
export class OutboxDispatcher implements OnApplicationBootstrap, OnModuleDestroy, OnApplicationShutdown {
  private readonly logger = new Logger('OutboxDispatcher');
  private readonly schedule: DispatchSchedule;
  /** What runs here must not live in the transaction of whoever happened to ask for it. */
  private readonly detached = rememberContext();
  private engine: DispatcherEngine | undefined;
  private wakeUp: WakeUp | undefined;

  constructor(private readonly parts: OutboxDispatcherParts) {
    this.schedule = new DispatchSchedule(parts.scheduleName, parts.options.dispatcher, parts.moduleRef);
  }

  async onApplicationBootstrap(): Promise<void> {
    await this.detached(async () => {
      const { dataSource, names, options, emitted, moduleRef, telemetry } = this.parts;
      if (options.dispatcher.enabled) attachTransports(options, moduleRef);
      const engine = options.dispatcher.enabled
        ? new DispatcherEngine(dataSource, names, options, this.logger, telemetry)
        : undefined;
      this.engine = engine;
      const runsLoop = engine !== undefined && options.dispatcher.schedule === 'loop';
      if (runsLoop) {
        engine.startLoops();
        await this.schedule.start(() => engine.wake());
      } else if (engine !== undefined) {
        await this.schedule.start(() => void this.drainOnTick(engine));
      }
      this.wakeUp = new WakeUp({
        dataSource,
        names,
        emitted,
        destinations: new Set(options.destinations.keys()),
        logger: this.logger,
        betweenProcesses: options.dispatcher.wakeUp,
      });
      this.wakeUp.start(
        runsLoop
          ? {
              wake: (destination) => engine.wake(destination),
              relyOnWakeUps: (areArriving) => this.schedule.relyOnWakeUps(areArriving),
            }
          : undefined,
      );
    });
  }

  async onModuleDestroy(): Promise<void> {
    const { engine, wakeUp } = this;
    this.engine = undefined;
    await this.schedule.stop();
    await Promise.all([wakeUp?.leaveLoop(), engine?.stop()]);
    if (engine !== undefined) wakeUp?.tellOthers();
  }

  /** Requests that were being answered may have committed until now. */
  async onApplicationShutdown(): Promise<void> {
    await this.wakeUp?.stop();
  }

  /**
   * Claims one batch of each destination, publishes it and writes the outcomes.
   *
   * @throws ConfigurationError when the dispatcher is switched off or not running.
   */
  async dispatchOnce(): Promise<DispatchSummary> {
    return this.detached(() => this.requireEngine().dispatchOnce());
  }

  /**
   * As `dispatchOnce`, again and again until nothing is due. Events that wait for a retry are not due.
   *
   * @throws ConfigurationError when the dispatcher is switched off or not running.
   */
  async drain(): Promise<DispatchSummary> {
    return this.detached(() => this.requireEngine().drain());
  }

  private isTicking = false;

  /** Ticks that come while the last one is still draining are skipped. */
  private async drainOnTick(engine: DispatcherEngine): Promise<void> {
    if (this.isTicking) return;
    this.isTicking = true;
    try {
      await engine.drain();
    } catch (error) {
      this.logger.error('scheduled dispatch failed', error);
    } finally {
      this.isTicking = false;
    }
  }

  private requireEngine(): DispatcherEngine {
    if (this.engine !== undefined) return this.engine;
    const problem = this.parts.options.dispatcher.enabled
      ? 'the dispatcher is not running: the application has not started yet, or is shutting down'
      : 'the dispatcher is switched off in this process by "dispatcher.enabled": false';
    throw new ConfigurationError(`${problem}. Call it in a process in which it runs.`);
  }
}
