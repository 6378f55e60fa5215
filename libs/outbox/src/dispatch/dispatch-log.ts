import type { Logger } from '@nestjs/common';
import { describeError } from '../errors/index.js';
import { logLine } from '../runtime/index.js';
import type { Claim } from '../store/index.js';

/** What the dispatcher says: fixed phrases with fields, one line for an outage however long it lasts. */
export class DispatchLog {
  private isDatabaseDown = false;

  constructor(
    private readonly logger: Logger,
    private readonly destination: string,
  ) {}

  databaseFailed(action: 'claim' | 'finalize' | 'breaker', error: unknown): void {
    if (this.isDatabaseDown) return;
    this.isDatabaseDown = true;
    this.logger.error(
      logLine('outbox database unavailable, trying again', { ...this.where(), action, error: describeError(error) }),
    );
  }

  databaseAnswered(): void {
    if (!this.isDatabaseDown) return;
    this.isDatabaseDown = false;
    this.logger.log(logLine('outbox database available again', this.where()));
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

  private where(): { destination: string } {
    return { destination: this.destination };
  }
}
