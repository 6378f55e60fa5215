import type { ModuleRef } from '@nestjs/core';
import type { ResolvedDispatcher } from '../config/index.js';
import { ConfigurationError } from '../errors/index.js';
import { findScheduler, importOptional, type Scheduler } from './scheduler-registry.js';

interface CronJob {
  start(): void;
  stop(): void | Promise<void>;
}

interface CronPackage {
  CronJob: { from(parameters: { cronTime: string; onTick: () => void; name: string }): CronJob };
}

/**
 * Ticks at the poll interval or by a cron expression, and shows it in the application's SchedulerRegistry when there is
 * one, so that it can be listed and stopped there like any other schedule.
 */
export class DispatchSchedule {
  private scheduler: Scheduler | undefined;
  private interval: NodeJS.Timeout | undefined;
  private cronJob: CronJob | undefined;

  constructor(
    /** Name in the registry. */
    private readonly name: string,
    private readonly options: ResolvedDispatcher,
    private readonly moduleRef: ModuleRef,
  ) {}

  /** @throws ConfigurationError for a cron expression that is none, or when the cron package is not installed. */
  async start(tick: () => void): Promise<void> {
    const { schedule, pollIntervalMs } = this.options;
    if (schedule === false) return;
    this.scheduler = await findScheduler(this.moduleRef);
    if (schedule === 'loop') {
      this.interval = setInterval(tick, pollIntervalMs);
      this.scheduler?.addInterval(this.name, this.interval);
    } else {
      this.cronJob = await this.makeCronJob(schedule, tick);
      this.scheduler?.addCronJob(this.name, this.cronJob);
      this.cronJob.start();
    }
  }

  /** The registry may have been emptied, or the schedule deleted by the application, before. */
  async stop(): Promise<void> {
    if (this.interval !== undefined && this.scheduler?.doesExist('interval', this.name))
      this.scheduler.deleteInterval(this.name);
    clearInterval(this.interval);
    if (this.cronJob !== undefined && this.scheduler?.doesExist('cron', this.name))
      this.scheduler.deleteCronJob(this.name);
    await this.cronJob?.stop();
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
