import { wallClockMs } from '../../runtime/index.js';
import type { DestinationBacklog, DestinationState } from '../../store/index.js';
import type { ResolvedDashboardOptions } from './dashboard-options.js';
import type { DashboardServices } from './dashboard-services.js';
import { type DestinationStatus, idleWork, mayHaveStopped, statusOf } from './destination-status.js';

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

const MOST_BLOCKED_KEYS = 1000;

/** Puts what is known of each destination, and what waits for it, together, and says in one word how it is. */
export class DashboardFigures {
  constructor(
    private readonly services: Pick<DashboardServices, 'destinations' | 'backlog' | 'blockedKeys'>,
    private readonly limits: Pick<ResolvedDashboardOptions, 'laggingAfterMs' | 'stoppedAfterMs'>,
  ) {}

  /** By name. */
  async read(): Promise<readonly DestinationFigures[]> {
    const { destinations, backlog } = this.services;
    const [states, backlogs] = await Promise.all([destinations.list(), backlog.read()]);
    const names = new Set([...states, ...backlogs].map(({ destination }) => destination));
    const figures = [...names].sort().map((name) => {
      const isIt = (one: { readonly destination: string }): boolean => one.destination === name;
      return this.figuresOf(name, states.find(isIt), backlogs.find(isIt));
    });
    return Promise.all(figures);
  }

  private async figuresOf(
    name: string,
    state: DestinationState | undefined,
    backlog: DestinationBacklog | undefined,
  ): Promise<DestinationFigures> {
    const hasStopped =
      mayHaveStopped(state, backlog, this.limits, wallClockMs()) && idleWork(backlog) > (await this.heldBack(name));
    const pending = backlog?.pending ?? 0;
    const untried = backlog?.attempts.get(0) ?? 0;
    return {
      name,
      status: statusOf(state, backlog, hasStopped, this.limits),
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

  /** How many wait behind a dead letter or a retry. */
  private async heldBack(destination: string): Promise<number> {
    const keys = await this.services.blockedKeys.list({ destination }, { limit: MOST_BLOCKED_KEYS });
    return keys.reduce((sum, { followers }) => sum + followers, 0);
  }
}
