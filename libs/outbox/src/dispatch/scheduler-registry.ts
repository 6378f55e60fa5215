import type { ModuleRef } from '@nestjs/core';

/** What is used of `@nestjs/schedule`'s SchedulerRegistry; the package is optional, so its types are not imported. */
export interface Scheduler {
  addInterval(name: string, interval: NodeJS.Timeout): void;
  deleteInterval(name: string): void;
  doesExist(type: 'cron' | 'interval', name: string): boolean;
  addCronJob(name: string, job: unknown): void;
  deleteCronJob(name: string): void;
}

/** The application's SchedulerRegistry, if it imports ScheduleModule. This library never imports it by itself. */
export async function findScheduler(moduleRef: ModuleRef): Promise<Scheduler | undefined> {
  const schedule = await importOptional<{ SchedulerRegistry: new () => Scheduler }>('@nestjs/schedule');
  if (schedule === undefined) return undefined;
  try {
    return moduleRef.get<Scheduler>(schedule.SchedulerRegistry, { strict: false });
  } catch {
    // Nest throws when the application does not import ScheduleModule: then there is nothing to register with.
    return undefined;
  }
}

/** Undefined when the optional package is not installed. */
export async function importOptional<T>(name: string): Promise<T | undefined> {
  try {
    return (await import(name)) as T;
  } catch (error) {
    if (typeof error === 'object' && error !== null && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND')
      return undefined;
    throw error;
  }
}
