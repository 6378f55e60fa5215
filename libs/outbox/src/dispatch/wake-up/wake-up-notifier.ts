import type { Logger } from '@nestjs/common';
import { describeError } from '../../errors/index.js';
import { logLine, waitFor } from '../../runtime/index.js';
import { notifyDestinations, type SqlClient } from '../../store/index.js';
import { gapMs } from './gap.js';

/** Longest wait for the last statement; a database that does not answer must not keep the process. */
const STOP_TIMEOUT_MS = 2000;

/**
 * Wakes dispatchers of other processes after a COMMIT. The first notification of a quiet period goes at once, what
 * follows is coalesced to one per 5 to 25 ms and process, and never more than one is on its way, so that they
 * take at most one connection of the application's pool. Outside every business transaction, because a notification
 * inside takes a lock of the whole server at commit. It may fail: polling finds the events all the same.
 */
export class WakeUpNotifier {
  private readonly waiting = new Set<string>();
  private readonly stopping = new AbortController();
  private wakeUps = 0;
  private sending: Promise<void> | undefined;
  private hasFailed = false;

  constructor(
    private readonly client: SqlClient,
    private readonly channel: string,
    private readonly logger: Logger,
  ) {}

  /** Cheap, never throws. */
  notify(destination: string): void {
    this.waiting.add(destination);
    this.wakeUps += 1;
    this.sending ??= this.sendAll();
  }

  /** Sends what waits without further delay, and waits until it is sent. */
  async stop(): Promise<void> {
    this.stopping.abort();
    if (this.sending === undefined) return;
    const sent = new AbortController();
    await Promise.race([this.sending, waitFor(STOP_TIMEOUT_MS, sent.signal)]);
    sent.abort();
  }

  private async sendAll(): Promise<void> {
    while (this.waiting.size > 0) {
      const destinations = [...this.waiting];
      const gap = waitFor(gapMs(this.wakeUps), this.stopping.signal);
      this.waiting.clear();
      this.wakeUps = 0;
      await Promise.all([this.send(destinations), gap]);
    }
    // In the same turn as the look above: what is announced from here on starts anew.
    this.sending = undefined;
  }

  private async send(destinations: readonly string[]): Promise<void> {
    try {
      await notifyDestinations(this.client, this.channel, destinations);
      this.hasFailed = false;
    } catch (error) {
      if (!this.hasFailed)
        this.logger.warn(logLine('wake-up not sent, polling will find the events', { error: describeError(error) }));
      this.hasFailed = true;
    }
  }
}
