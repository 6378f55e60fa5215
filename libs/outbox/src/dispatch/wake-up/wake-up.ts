import type { Logger } from '@nestjs/common';
import type { DataSource } from 'typeorm';
import { describeError } from '../../errors/index.js';
import { logLine, type Signal } from '../../runtime/index.js';
import { DataSourceClient, type OutboxNames, WakeUpListener, wakeUpChannel } from '../../store/index.js';
import { WakeUpNotifier } from './wake-up-notifier.js';

export interface WakeUpParts {
  readonly dataSource: DataSource;
  readonly names: OutboxNames;
  /** Announces the destinations of events that were committed in this process. */
  readonly emitted: Signal<string>;
  readonly logger: Logger;
  readonly betweenProcesses: boolean;
}

/**
 * Carries the hint "there is work" to a running loop: directly within a process, by LISTEN and NOTIFY between processes.
 * A process whose own loop runs does not notify: its loop is awake already, and the others poll.
 */
export class WakeUp {
  private unsubscribe: (() => void) | undefined;
  private listener: WakeUpListener | undefined;
  private notifier: WakeUpNotifier | undefined;

  constructor(private readonly parts: WakeUpParts) {}

  /** @param wakeLoop wakes the loop of this process, for one destination or for all; undefined when none runs. */
  start(wakeLoop: ((destination: string | undefined) => void) | undefined): void {
    const { dataSource, names, emitted, logger, betweenProcesses } = this.parts;
    if (wakeLoop !== undefined) {
      this.unsubscribe = emitted.subscribe(wakeLoop);
      if (!betweenProcesses) return;
      this.listener = new WakeUpListener(dataSource, wakeUpChannel(names), {
        onWake: wakeLoop,
        onLost: (error) =>
          logger.warn(logLine('wake-up connection lost, polling goes on', { error: describeError(error) })),
      });
      this.listener.start();
    } else if (betweenProcesses) {
      const notifier = new WakeUpNotifier(new DataSourceClient(dataSource), wakeUpChannel(names));
      this.notifier = notifier;
      this.unsubscribe = emitted.subscribe((destination) => notifier.notify(destination));
    }
  }

  async stop(): Promise<void> {
    this.unsubscribe?.();
    await Promise.all([this.listener?.stop(), this.notifier?.stop()]);
  }
}
