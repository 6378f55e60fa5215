import type { ResolvedDestination } from '../config/index.js';
import { storableText } from '../errors/index.js';
import { monotonicMs, type Random } from '../runtime/index.js';
import type { BreakerStore } from '../store/index.js';
import type { DispatchLog } from './dispatch-log.js';

/** A pause is looked at again this often at least: another dispatcher may have reached the destination meanwhile. */
const LONGEST_WAIT_MS = 1000;

/**
 * Leaves a destination alone while it cannot be reached. The state is shared by all dispatchers (BreakerStore); here is
 * only what this one remembers, so as not to ask at every wake-up.
 */
export class Breaker {
  private isOpen = false;
  private askAgainAt = 0;
  private failedConnects = 0;
  private isPausedByHand = false;

  constructor(
    private readonly destination: ResolvedDestination,
    private readonly store: BreakerStore,
    private readonly log: DispatchLog,
    private readonly random: Random,
  ) {}

  /** Milliseconds for which there is no point in claiming. */
  remainingMs(): number {
    return Math.max(0, this.askAgainAt - monotonicMs());
  }

  /** A claim found the destination paused. */
  noteResume(resumeMs: number): void {
    this.isOpen = true;
    this.askAgainAt = monotonicMs() + Math.min(resumeMs, LONGEST_WAIT_MS);
  }

  /** Whether the last claim found that somebody has paused the destination; it is looked at again in a moment. */
  notePausedByHand(isPaused: boolean): void {
    if (isPaused) this.askAgainAt = monotonicMs() + LONGEST_WAIT_MS;
    if (isPaused === this.isPausedByHand) return;
    this.isPausedByHand = isPaused;
    if (isPaused) this.log.pausedByHand();
    else this.log.resumedByHand();
  }

  /**
   * The destination could not be reached.
   *
   * @returns for how long it is left alone, in ms.
   */
  async trip(error: string, isProbe: boolean): Promise<number> {
    const { name, pauseBaseMs, pauseCapMs } = this.destination;
    const jitter = this.jitter();
    const pauseMs = await this.written(pauseBaseMs * jitter, () =>
      this.store.trip({
        destination: name,
        isProbe,
        baseMs: pauseBaseMs,
        capMs: pauseCapMs,
        jitter,
        error: storableText(error),
      }),
    );
    if (!this.isOpen || isProbe) this.log.unreachable(error, pauseMs);
    this.noteResume(pauseMs);
    return pauseMs;
  }

  /**
   * This process could not connect. Others may be connected, so it waits alone: were it to trip the breaker of all, again
   * and again, none of them would ever come to the end of the pause.
   */
  noteUnconnected(error: string): void {
    const { pauseBaseMs, pauseCapMs } = this.destination;
    const pauseMs = Math.min(pauseCapMs, pauseBaseMs * 2 ** Math.min(this.failedConnects, 40)) * this.jitter();
    this.failedConnects += 1;
    this.log.unreachable(error, pauseMs);
    this.askAgainAt = monotonicMs() + pauseMs;
  }

  /** A probe got through. */
  async close(): Promise<void> {
    await this.written(undefined, () => this.store.close(this.destination.name));
    this.isOpen = false;
    this.askAgainAt = 0;
    this.log.reachable();
  }

  /** A probe found nothing to try. */
  async giveProbeBack(): Promise<void> {
    await this.written(undefined, () => this.store.giveProbeBack(this.destination.name));
    this.noteResume(LONGEST_WAIT_MS);
  }

  private jitter(): number {
    return 0.5 + this.random() / 2;
  }

  /** PostgreSQL may be away too; then nobody claims anything, and the breaker's state is as good as it was. */
  private async written<T>(fallback: T, write: () => Promise<T>): Promise<T> {
    try {
      return await this.log.askingDatabase('breaker', write);
    } catch {
      return fallback;
    }
  }
}
