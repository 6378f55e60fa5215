import type { ModuleRef } from '@nestjs/core';
import type { ResolvedDispatcher } from '../config/index.js';
import { ConfigurationError } from '../errors/index.js';
import { type Random, systemRandom } from '../runtime/index.js';
import { findScheduler, importOptional, type Scheduler } from './scheduler-registry.js';

interface CronJob {
  start(): void;
  stop(): void | Promise<void>;
}

interface CronPackage {
  CronJob: { from(parameters: { cronTime: string; onTick: () => void; name: string }): CronJob };
}

/** What is used of the options. */
export type ScheduleOptions = Pick<ResolvedDispatcher, 'schedule' | 'pollIntervalMs' | 'pollIntervalWithoutWakeUpMs'>;

/** Ticks come after this share of the interval at the earliest. */
const SHORTEST_SHARE = 0.75;

/**
 * Ticks within the poll interval or by a cron expression, and shows it in the application's SchedulerRegistry when
 * there is one, so that it can be listed and stopped there like any other schedule.
 *
 * The poll is jittered: instances that started together, or lost their wake-ups together, do not look together.
 */
export class DispatchSchedule {
  private scheduler: Scheduler | undefined;
  private timer: NodeJS.Timeout | undefined;
  private cronJob: CronJob | undefined;
  private areWakeUpsArriving = false;
  /** Waits so long for the next tick, whatever it waited for before; undefined while nothing polls. */
  private poll: ((afterMs: number) => void) | undefined;

  constructor(
    /** Name in the registry. */
    private readonly name: string,
    private readonly options: ScheduleOptions,
    private readonly moduleRef: ModuleRef,
    private readonly random: Random = systemRandom,
  ) {}

  /** @throws ConfigurationError for a cron expression that is none, or when the cron package is not installed. */
  async start(tick: () => void): Promise<void> {
    const { schedule } = this.options;
    if (schedule === false) return;
    this.scheduler = await findScheduler(this.moduleRef);
    if (schedule === 'loop') {
      this.poll = (afterMs) => this.tickAfter(afterMs, tick);
      this.poll(this.random() * this.intervalMs());
    } else {
      this.cronJob = await this.makeCronJob(schedule, tick);
      this.scheduler?.addCronJob(this.name, this.cronJob);
      this.cronJob.start();
    }
  }

  /** While wake-ups of other processes do not arrive, it polls as often as it would without them. */
  relyOnWakeUps(areArriving: boolean): void {
    if (this.areWakeUpsArriving === areArriving) return;
    this.areWakeUpsArriving = areArriving;
    // An application that deleted it from the registry wants no more ticks.
    if (this.scheduler === undefined || this.isRegistered()) this.poll?.(this.random() * this.intervalMs());
  }

  /** The registry may have been emptied, or the schedule deleted by the application, before. */
  async stop(): Promise<void> {
    this.poll = undefined;
    this.takeDownTimer();
    if (this.cronJob !== undefined && this.scheduler?.doesExist('cron', this.name))
      this.scheduler.deleteCronJob(this.name);
    await this.cronJob?.stop();
  }

  /** What stands in the registry is always the timer that runs: deleting it there ends the ticks. */
  private tickAfter(afterMs: number, tick: () => void): void {
    this.takeDownTimer();
    this.timer = setTimeout(() => {
      this.poll?.(this.intervalMs() * (SHORTEST_SHARE + this.random() * (1 - SHORTEST_SHARE)));
      tick();
    }, afterMs);
    this.scheduler?.addInterval(this.name, this.timer);
  }

  private takeDownTimer(): void {
    if (this.timer !== undefined && this.isRegistered()) this.scheduler?.deleteInterval(this.name);
    clearTimeout(this.timer);
  }

  private isRegistered(): boolean {
    return this.scheduler?.doesExist('interval', this.name) ?? false;
  }

  private intervalMs(): number {
    const { pollIntervalMs, pollIntervalWithoutWakeUpMs } = this.options;
    return this.areWakeUpsArriving ? pollIntervalMs : pollIntervalWithoutWakeUpMs;
  }

  private async makeCronJob(expression: string, tick: () => void): Promise<CronJob> {
    const cron = await importOptional<CronPackage>('cron');
    if (cron === undefined) {
      throw new ConfigurationError(
        `"dispatcher.schedule" is the cron expression "${expression}", but the package "cron" is not installed. Run \`npm install @nestjs/schedule\`, which brings it.`,
      );
    }
    try {
      return cron.CronJob.from({ cronTime: expression, onTick: tick, name: this.name });
    } catch (error) {
      throw new ConfigurationError(
        `"dispatcher.schedule" is "${expression}", which is no cron expression. Use 'loop', false, or five or six cron fields.`,
        error,
      );
    }
  }
}
