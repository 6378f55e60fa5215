import type { DestinationBacklog, DestinationState } from '../../store/index.js';
import type { DestinationHealth } from '../health.service.js';
import type { ResolvedDashboardOptions } from './dashboard-options.js';
import type { DashboardServices } from './dashboard-services.js';
import { type DestinationStatus, statusOf } from './destination-status.js';

/** What one card of the page shows. */
export interface DestinationFigures {
  readonly name: string;
  readonly status: DestinationStatus;
  readonly oldestUndeliveredMs: number | undefined;
  readonly pending: number;
  /** Of `pending`: tried before. */
  readonly retrying: number;
  readonly processing: number;
  readonly expiredLeases: number;
  readonly dead: number;
  readonly delivered: number;
  readonly progressedAt: Date | undefined;
  readonly failures: number;
  readonly error: string | undefined;
  readonly resumeAt: Date | undefined;
  readonly pause: DestinationState['pause'];
}

/** Puts what is known of each destination, and what waits for it, together, and says in one word how it is. */
export class DashboardFigures {
  constructor(
    private readonly services: Pick<DashboardServices, 'destinations' | 'backlog' | 'health'>,
    private readonly limits: Pick<ResolvedDashboardOptions, 'laggingAfterMs' | 'stalledAfterMs'>,
  ) {}

  /**
   * By name; those of the configuration too that nothing was ever sent to.
   *
   * @param options.maxAgeMs a count of the queue this old will do; default 0, because whoever has acted wants to see it.
   */
  async read(options: { readonly maxAgeMs?: number } = {}): Promise<readonly DestinationFigures[]> {
    const { destinations, backlog, health } = this.services;
    const [states, backlogs, { destinations: checked }] = await Promise.all([
      destinations.list(),
      backlog.read(options),
      health.check(this.limits),
    ]);
    const names = new Set([...states, ...backlogs, ...checked].map(({ destination }) => destination));
    return [...names].sort().map((name) => {
      const isIt = (one: { readonly destination: string }): boolean => one.destination === name;
      return this.figuresOf(name, checked.find(isIt), states.find(isIt), backlogs.find(isIt));
    });
  }

  private figuresOf(
    name: string,
    health: DestinationHealth | undefined,
    state: DestinationState | undefined,
    backlog: DestinationBacklog | undefined,
  ): DestinationFigures {
    const pending = backlog?.pending ?? 0;
    const untried = backlog?.attempts.get(0) ?? 0;
    return {
      name,
      status: statusOf(health, state, backlog, this.limits),
      oldestUndeliveredMs: backlog?.oldestUndeliveredMs,
      pending,
      retrying: Math.max(0, pending - untried),
      processing: backlog?.processing ?? 0,
      expiredLeases: backlog?.expiredLeases ?? 0,
      dead: backlog?.dead ?? 0,
      delivered: state?.delivered ?? 0,
      progressedAt: state?.progressedAt,
      failures: state?.failures ?? 0,
      error: state?.error,
      resumeAt: state?.resumeAt,
      pause: state?.pause,
    };
  }
}
