import { Injectable } from '@nestjs/common';
import { type HealthIndicatorResult, HealthIndicatorService } from '@nestjs/terminus';
import { describeError } from '../../errors/index.js';
import { type HealthThresholds, type OutboxHealth, OutboxHealthService } from '../health.service.js';

/** What the health endpoint shows beside the status: for each destination that is not well, why. */
interface Details {
  readonly [destination: string]: string;
}

/**
 * Health indicator for `@nestjs/terminus`: down when there is work and nothing progresses, or when the database cannot be asked;
 * degraded on lag, dead letters, a pause, or a destination that cannot be reached; up otherwise. Before Terminus 12.1 there is no
 * `degraded`, so there it is up with its reasons.
 */
@Injectable()
export class OutboxHealthIndicator {
  constructor(
    private readonly health: OutboxHealthService,
    private readonly indicators: HealthIndicatorService,
  ) {}

  /** @throws ConfigurationError for thresholds out of bounds. Never for what it finds: that is the result. */
  async isHealthy<const Key extends string>(
    key: Key,
    thresholds: HealthThresholds = {},
  ): Promise<HealthIndicatorResult<Key>> {
    const indicator = this.indicators.check(key);
    let health: OutboxHealth;
    try {
      health = await this.health.check(thresholds);
    } catch (error) {
      return indicator.down(describeError(error));
    }
    const details = detailsOf(health);
    if (health.status === 'down') return indicator.down(details);
    if (health.status === 'degraded' && 'degraded' in indicator) return indicator.degraded(details);
    return indicator.up(details);
  }
}

function detailsOf({ destinations }: OutboxHealth): Details {
  const unwell = destinations.filter(({ status }) => status !== 'up');
  return Object.fromEntries(unwell.map(({ destination, reasons }) => [destination, reasons.join('; ')]));
}
