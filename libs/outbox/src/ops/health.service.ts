import { wholeNumber } from '../config/index.js';
import type { VitalSigns, VitalSignsStore } from '../store/index.js';

const DAY_MS = 86_400_000;

export interface HealthThresholds {
  /** There is work, and nothing was delivered for so long: down. 1,000 to a day; default 60,000 ms. */
  readonly stalledAfterMs?: number;
  /** The oldest event is older than this: degraded. 1,000 to a week; default 300,000 ms. */
  readonly laggingAfterMs?: number;
}

export type HealthStatus = 'up' | 'degraded' | 'down';

export interface DestinationHealth {
  readonly destination: string;
  readonly status: HealthStatus;
  /** Why it is not `up`, in words for the person on call; empty when it is. */
  readonly reasons: readonly string[];
  readonly oldestMs: number | undefined;
  readonly dead: number;
}

export interface OutboxHealth {
  /** That of the destination which is worst off. */
  readonly status: HealthStatus;
  readonly destinations: readonly DestinationHealth[];
}

/**
 * Tells whether events flow, and not whether a process lives: any process of the application may ask, the one that dispatches
 * or another. Costs the same beside a million waiting events.
 */
export class OutboxHealthService {
  constructor(
    private readonly store: VitalSignsStore,
    /** Names from the configuration of this application. */
    private readonly configured: readonly string[],
  ) {}

  /** @throws the error of the database when it cannot be asked; nobody knows then whether anything flows. */
  async check(thresholds: HealthThresholds = {}): Promise<OutboxHealth> {
    const limits = {
      stalledAfterMs: wholeNumber('stalledAfterMs', thresholds.stalledAfterMs, 60_000, 1000, DAY_MS),
      laggingAfterMs: wholeNumber('laggingAfterMs', thresholds.laggingAfterMs, 300_000, 1000, 7 * DAY_MS),
    };
    const signs = await this.store.readVitalSigns(this.configured);
    const destinations = signs.map((one) => judge(one, limits));
    return { status: worstOf(destinations), destinations };
  }
}

function judge(signs: VitalSigns, { stalledAfterMs, laggingAfterMs }: Required<HealthThresholds>): DestinationHealth {
  const { destination, failures, error, isPaused, progressMs, oldestMs, dueMs, dead } = signs;
  const isStalled =
    !isPaused && (dueMs ?? 0) > stalledAfterMs && (progressMs ?? Number.POSITIVE_INFINITY) > stalledAfterMs;
  const reasons: string[] = [];
  if (isPaused) reasons.push('paused by hand');
  if (failures > 0) reasons.push(`cannot be reached: ${error ?? 'reason unknown'}`);
  else if (isStalled)
    reasons.push(
      `nothing delivered for ${inWords(Math.min(dueMs ?? 0, progressMs ?? Number.POSITIVE_INFINITY))} although there is work: does a dispatcher run?`,
    );
  if ((oldestMs ?? 0) > laggingAfterMs) reasons.push(`the oldest event waits for ${inWords(oldestMs ?? 0)}`);
  if (dead > 0) reasons.push(`${dead} dead letter${dead === 1 ? '' : 's'}`);
  const status = isStalled ? 'down' : reasons.length > 0 ? 'degraded' : 'up';
  return { destination, status, reasons, oldestMs, dead };
}

function worstOf(destinations: readonly DestinationHealth[]): HealthStatus {
  const has = (status: HealthStatus): boolean => destinations.some((one) => one.status === status);
  if (has('down')) return 'down';
  return has('degraded') ? 'degraded' : 'up';
}

function inWords(ms: number): string {
  const seconds = Math.round(ms / 1000);
  return seconds < 120 ? `${seconds} s` : `${Math.round(seconds / 60)} min`;
}
