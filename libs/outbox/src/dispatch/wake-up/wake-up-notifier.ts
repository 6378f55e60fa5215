import { Logger } from '@nestjs/common';
import { describeError } from '../../errors/index.js';
import { logLine } from '../../runtime/index.js';
import { notifyDestinations, type SqlClient } from '../../store/index.js';

/** Time in which the wake-ups of a process become one statement. */
const COALESCE_MS = 5;

/**
 * Wakes dispatchers of other processes after a COMMIT: one NOTIFY per few milliseconds and process, outside every
 * business transaction, because a notification inside takes a lock of the whole server at commit. It may fail, and it
 * may come too late: polling finds the events all the same.
 */
export class WakeUpNotifier {
  private readonly logger = new Logger('OutboxWakeUp');
  private readonly waiting = new Set<string>();
  private timer: NodeJS.Timeout | undefined;
  private sending: Promise<void> = Promise.resolve();

  constructor(
    private readonly client: SqlClient,
    private readonly channel: string,
  ) {}

  notify(destination: string): void {
    this.waiting.add(destination);
    this.timer ??= setTimeout(() => this.send(), COALESCE_MS);
  }

  /** Sends what waits, and waits until it is sent. */
  async stop(): Promise<void> {
    if (this.timer !== undefined) this.send();
    await this.sending;
  }

  private send(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    const destinations = [...this.waiting];
    this.waiting.clear();
    this.sending = notifyDestinations(this.client, this.channel, destinations).catch((error) =>
      this.logger.warn(logLine('wake-up not sent, polling will find the events', { error: describeError(error) })),
    );
  }
}
