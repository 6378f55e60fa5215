import type { DestinationBacklog, DestinationState } from '../../store/index.js';
import type { ResolvedDashboardOptions } from './dashboard-options.js';

/** In the order in which they need somebody. */
export type DestinationStatus = 'unreachable' | 'stopped' | 'lagging' | 'paused' | 'healthy';

type Limits = Pick<ResolvedDashboardOptions, 'laggingAfterMs' | 'stoppedAfterMs'>;

/** Events that nobody has taken yet, or whose taker is gone. What waits for a retry, or is under way, is not idle. */
export function idleWork(backlog: DestinationBacklog | undefined): number {
  return (backlog?.attempts.get(0) ?? 0) + (backlog?.expiredLeases ?? 0);
}

/** True when events wait and none is under way, for longer than that may take. Those behind a dead letter wait for a person. */
export function mayHaveStopped(
  state: DestinationState | undefined,
  backlog: DestinationBacklog | undefined,
  { stoppedAfterMs }: Limits,
  nowMs: number,
): boolean {
  if (backlog === undefined || idleWork(backlog) === 0 || backlog.processing > 0) return false;
  const idleMs = nowMs - (state?.progressedAt?.getTime() ?? 0);
  return (backlog.oldestUndeliveredMs ?? 0) > stoppedAfterMs && idleMs > stoppedAfterMs;
}

/** @param hasStopped as `mayHaveStopped` says, unless all that waits is held back by a dead letter or a retry. */
export function statusOf(
  state: DestinationState | undefined,
  backlog: DestinationBacklog | undefined,
  hasStopped: boolean,
  { laggingAfterMs }: Limits,
): DestinationStatus {
  if (state?.pause !== undefined) return 'paused';
  if ((state?.failures ?? 0) > 0) return 'unreachable';
  if (hasStopped) return 'stopped';
  return (backlog?.oldestUndeliveredMs ?? 0) > laggingAfterMs ? 'lagging' : 'healthy';
}
