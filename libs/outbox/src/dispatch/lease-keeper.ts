import { setMaxListeners } from 'node:events';
import { monotonicMs, waitFor } from '../runtime/index.js';
import type { Claim, DeliveryStore } from '../store/index.js';

/** Why the publishes of a claim are interrupted. */
export class LeaseLost extends Error {}

/**
 * Keeps the lease of one claim while its events are published: renews it every third of its length. When a renewal
 * finds that something was taken over, or the lease ends because no renewal came through, the lease counts as lost:
 * the signal aborts and nothing more is started.
 */
export class LeaseKeeper {
  private readonly interruption = new AbortController();
  private readonly onCutOff = (): void => this.interruption.abort(this.cutOff.reason);
  private readonly timer: NodeJS.Timeout;
  private readonly ids: readonly string[];
  private readonly renewals = new Set<Promise<void>>();
  private deadline: number;

  /** @param claimedAt monotonic time from before the claim was sent, so that our deadline is never later than PostgreSQL's. */
  constructor(
    private readonly store: DeliveryStore,
    private readonly claim: Claim,
    private readonly leaseMs: number,
    claimedAt: number,
    /** Interrupts too: the process is about to end. */
    private readonly cutOff: AbortSignal,
  ) {
    // One listener for each publish that runs.
    setMaxListeners(0, this.interruption.signal);
    cutOff.addEventListener('abort', this.onCutOff, { once: true });
    if (cutOff.aborted) this.onCutOff();
    this.ids = claim.deliveries.map(({ id }) => id);
    this.deadline = claimedAt + leaseMs;
    this.timer = setInterval(() => this.startRenewal(), leaseMs / 3);
  }

  /** Aborts when the lease is lost or the process is about to end. */
  get signal(): AbortSignal {
    return this.interruption.signal;
  }

  /** False once the lease is lost, or may have ended without our noticing (a blocked event loop, a stopped process). */
  isHeld(): boolean {
    if (monotonicMs() >= this.deadline) this.lose('the lease ended before it could be renewed');
    return !this.interruption.signal.aborted;
  }

  /**
   * No renewal may run beside the finalize: each would lock what the other one waits for. Waits for one that runs, but
   * not longer than the lease.
   */
  async endRenewals(): Promise<void> {
    clearInterval(this.timer);
    if (this.renewals.size === 0) return;
    const ended = new AbortController();
    const leftMs = Math.max(0, this.deadline - monotonicMs());
    await Promise.race([Promise.all(this.renewals), waitFor(leftMs, ended.signal)]);
    ended.abort();
  }

  stop(): void {
    clearInterval(this.timer);
    this.cutOff.removeEventListener('abort', this.onCutOff);
  }

  private startRenewal(): void {
    const renewal: Promise<void> = this.renew().finally(() => this.renewals.delete(renewal));
    this.renewals.add(renewal);
  }

  private async renew(): Promise<void> {
    const askedAt = monotonicMs();
    try {
      const renewed = await this.store.renew(this.claim, this.ids, this.leaseMs);
      if (renewed < this.ids.length) this.lose('another dispatcher took the deliveries over');
      else this.deadline = askedAt + this.leaseMs;
    } catch {
      // PostgreSQL did not answer. The deadline decides: a later renewal may still come in time.
      this.isHeld();
    }
  }

  private lose(reason: string): void {
    this.stop();
    this.interruption.abort(new LeaseLost(reason));
  }
}
