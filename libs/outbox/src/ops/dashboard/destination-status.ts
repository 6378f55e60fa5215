import type { DestinationBacklog, DestinationState } from '../../store/index.js';
import type { DestinationHealth } from '../health.service.js';
import type { ResolvedDashboardOptions } from './dashboard-options.js';

/** In the order in which they need somebody. */
export type DestinationStatus = 'unreachable' | 'stopped' | 'lagging' | 'paused' | 'healthy';

/** One word for what the health endpoint says in three, with why. */
export function statusOf(
  health: DestinationHealth | undefined,
  state: DestinationState | undefined,
  backlog: DestinationBacklog | undefined,
  { laggingAfterMs }: Pick<ResolvedDashboardOptions, 'laggingAfterMs'>,
): DestinationStatus {
  if (state?.pause !== undefined) return 'paused';
  if ((state?.failures ?? 0) > 0) return 'unreachable';
  if (health?.status === 'down') return 'stopped';
  return (backlog?.oldestUndeliveredMs ?? 0) > laggingAfterMs ? 'lagging' : 'healthy';
}
