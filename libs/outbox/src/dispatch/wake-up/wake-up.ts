import type { Logger } from '@nestjs/common';
import type { DataSource } from 'typeorm';
import { describeError } from '../../errors/index.js';
import { logLine, Signal } from '../../runtime/index.js';
import { ApplicationPool, type OutboxNames, WakeUpListener, wakeUpChannel } from '../../store/index.js';
import { LookPacer } from './look-pacer.js';
import { WakeUpNotifier } from './wake-up-notifier.js';

export interface WakeUpParts {
  readonly dataSource: DataSource;
  readonly names: OutboxNames;
  /** Announces the destinations of events that were committed in this process. */
  readonly emitted: Signal<string>;
  readonly destinations: ReadonlySet<string>;
  readonly logger: Logger;
  readonly betweenProcesses: boolean;
}

/** The running loop of this process. */
export interface WokenLoop {
  wake(destination: string): void;
  /** Told whether notifications of other processes arrive; until then they do not. */
  relyOnWakeUps(areArriving: boolean): void;
}

/**
 * Carries the hint "there is work" to a running loop: directly within a process, by LISTEN and NOTIFY between
 * processes. A process notifies the others only when no loop runs in it (any more).
 */
export class WakeUp {
  private readonly notifier: WakeUpNotifier | undefined;
  private unsubscribe: () => void = () => undefined;
  private pacer: LookPacer | undefined;
  private listener: WakeUpListener | undefined;

  constructor(private readonly parts: WakeUpParts) {
    const { dataSource, names, logger, betweenProcesses } = parts;
    if (betweenProcesses)
      this.notifier = new WakeUpNotifier(new ApplicationPool(dataSource), wakeUpChannel(names), logger);
  }

  /** @param loop that of this process; undefined when none runs. */
  start(loop: WokenLoop | undefined): void {
    const { emitted, destinations, logger, betweenProcesses } = this.parts;
    if (loop !== undefined) {
      const looks = new Signal<string>((error) =>
        logger.error(logLine('wake-up failed, going on', { error: describeError(error) })),
      );
      looks.subscribe((destination) => loop.wake(destination));
      this.pacer = new LookPacer(destinations, (destination) => looks.announce(destination));
      if (betweenProcesses) this.listen(loop, this.pacer);
    }
    this.unsubscribe = emitted.subscribe((destination) => {
      if (this.pacer === undefined) this.notifier?.notify(destination);
      else this.pacer.wake(destination);
    });
  }

  /** The loop takes nothing more: from here on the others are told, first of what was committed and not looked for. */
  async leaveLoop(): Promise<void> {
    this.pacer?.stop();
    this.pacer = undefined;
    await this.listener?.stop();
  }

  /** The loop has given back what it held: whoever else runs may take it. */
  tellOthers(): void {
    for (const destination of this.parts.destinations) this.notifier?.notify(destination);
  }

  /** Resolves when everything that was committed before is announced. */
  async stop(): Promise<void> {
    // Commits that were answered already call back in this turn of the event loop.
    await new Promise((resolve) => setImmediate(resolve));
    this.unsubscribe();
    await this.notifier?.stop();
  }

  private listen(loop: WokenLoop, pacer: LookPacer): void {
    const { dataSource, names, logger } = this.parts;
    let isLost = false;
    this.listener = new WakeUpListener(dataSource, wakeUpChannel(names), new ApplicationPool(dataSource), {
      onWake: (destination) => pacer.wake(destination),
      onListening: (areArriving) => {
        if (areArriving && isLost) logger.log('wake-ups of other processes arrive again');
        if (areArriving) isLost = false;
        loop.relyOnWakeUps(areArriving);
      },
      onLost: (error) => {
        isLost = true;
        logger.warn(logLine('wake-up connection lost, polling goes on', { error: describeError(error) }));
      },
      onPooled: () =>
        logger.warn(
          'wake-ups of other processes do not come through the connection pooler (PgBouncer in transaction mode?), polling finds their events. Give the DataSource a direct connection, or switch "dispatcher.wakeUp" off',
        ),
    });
    this.listener.start();
  }
}
