import { Logger, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import type { ModuleRef } from '@nestjs/core';
import type { DataSource } from 'typeorm';
import type { ResolvedOptions } from '../config/index.js';
import { ConfigurationError } from '../errors/index.js';
import type { Signal } from '../runtime/index.js';
import type { OutboxNames } from '../store/index.js';
import { outsideTransaction } from '../transaction/index.js';
import { DispatchSchedule } from './dispatch-schedule.js';
import type { DispatchSummary } from './dispatch-summary.js';
import { DispatcherEngine } from './dispatcher-engine.js';

export interface OutboxDispatcherParts {
  readonly dataSource: DataSource;
  readonly names: OutboxNames;
  readonly options: ResolvedOptions;
  readonly emitted: Signal<string>;
  readonly moduleRef: ModuleRef;
  /** Name of the schedule in the SchedulerRegistry. */
  readonly scheduleName: string;
}

/**
 * The dispatcher (message relay) of one outbox: moves committed events to their destinations, each at least once, by
 * itself or when asked to. Starts with the application unless switched off, and ends with it.
 */
export class OutboxDispatcher implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly logger = new Logger('OutboxDispatcher');
  private readonly schedule: DispatchSchedule;
  private engine: DispatcherEngine | undefined;
  private unsubscribe: (() => void) | undefined;

  constructor(private readonly parts: OutboxDispatcherParts) {
    this.schedule = new DispatchSchedule(parts.scheduleName, parts.options.dispatcher, parts.moduleRef);
  }

  async onApplicationBootstrap(): Promise<void> {
    const { dataSource, names, options, emitted } = this.parts;
    if (!options.dispatcher.enabled) return;
    // Whatever is started here must not live in a transaction that happens to be open around the bootstrap.
    await outsideTransaction(async () => {
      const engine = new DispatcherEngine(dataSource, names, options, this.logger);
      this.engine = engine;
      if (options.dispatcher.schedule === 'loop') {
        engine.startLoops();
        this.unsubscribe = emitted.subscribe((destination) => engine.wake(destination));
        await this.schedule.start(() => engine.wake());
      } else {
        await this.schedule.start(() => void this.drainOnTick(engine));
      }
    });
  }

  async onModuleDestroy(): Promise<void> {
    const { engine } = this;
    this.engine = undefined;
    this.unsubscribe?.();
    await this.schedule.stop();
    await engine?.stop();
  }

  /**
   * Claims one batch of each destination, publishes it and writes the outcomes.
   *
   * @throws ConfigurationError when the dispatcher is switched off or not running.
   */
  dispatchOnce(): Promise<DispatchSummary> {
    return outsideTransaction(() => this.requireEngine().dispatchOnce());
  }

  /**
   * As `dispatchOnce`, again and again until nothing is due. Events that wait for a retry are not due.
   *
   * @throws ConfigurationError when the dispatcher is switched off or not running.
   */
  drain(): Promise<DispatchSummary> {
    return outsideTransaction(() => this.requireEngine().drain());
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
