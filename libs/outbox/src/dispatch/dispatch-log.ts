import type { Logger } from '@nestjs/common';
import { describeError } from '../errors/index.js';
import { logLine, monotonicMs } from '../runtime/index.js';
import type { Claim } from '../store/index.js';

/** What the dispatcher says: fixed phrases with fields, one line for an outage however long it lasts. */
export class DispatchLog {
  private isDatabaseDown = false;
  private answeredAt = Number.NEGATIVE_INFINITY;
  private failedAt = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly logger: Logger,
    private readonly destination: string,
  ) {}

  /**
   * Asks PostgreSQL for something, and says when it went away or came back. What was asked before the newest answer of
   * the other kind tells nothing: sessions end and begin one after the other.
   *
   * @throws what the work throws; it has been said.
   */
  async askingDatabase<T>(action: 'claim' | 'finalize' | 'breaker', ask: () => Promise<T>): Promise<T> {
    const askedAt = monotonicMs();
    try {
      const answer = await ask();
      this.databaseAnswered(askedAt);
      return answer;
    } catch (error) {
      this.databaseFailed(action, error, askedAt);
      throw error;
    }
  }

  leaseLost(claim: Claim, count: number): void {
    this.logger.warn(logLine('lease lost', { ...this.where(), token: claim.token, lane: claim.lane, count }));
  }

  unclassified(eventId: string, attempt: number, error: string): void {
    this.logger.error(logLine('unclassified failure', { ...this.where(), eventId, attempt, error }));
  }

  duplicate(eventId: string | undefined): void {
    this.logger.log(logLine('delivered before', { ...this.where(), eventId }));
  }

  dead(eventId: string | undefined, attempts: number, error: string): void {
    this.logger.error(logLine('dead letter', { ...this.where(), eventId, attempts, error }));
  }

  unreachable(error: string, pauseMs: number): void {
    this.logger.warn(
      logLine('destination unreachable, pausing', { ...this.where(), pauseMs: Math.round(pauseMs), error }),
    );
  }

  reachable(): void {
    this.logger.log(logLine('destination reachable again', this.where()));
  }

  pausedByHand(): void {
    this.logger.log(logLine('destination paused by hand', this.where()));
  }

  resumedByHand(): void {
    this.logger.log(logLine('destination resumed by hand', this.where()));
  }

  private databaseFailed(action: string, error: unknown, askedAt: number): void {
    if (askedAt < this.answeredAt) return;
    this.failedAt = monotonicMs();
    if (this.isDatabaseDown) return;
    this.isDatabaseDown = true;
    this.logger.error(
      logLine('outbox database unavailable, trying again', { ...this.where(), action, error: describeError(error) }),
    );
  }

  private databaseAnswered(askedAt: number): void {
    if (askedAt < this.failedAt) return;
    this.answeredAt = monotonicMs();
    if (!this.isDatabaseDown) return;
    this.isDatabaseDown = false;
    this.logger.log(logLine('outbox database available again', this.where()));
  }

  private where(): { destination: string } {
    return { destination: this.destination };
  }
}
