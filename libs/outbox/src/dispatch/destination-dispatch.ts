import { describeError } from '../errors/index.js';
import { monotonicMs, waitFor } from '../runtime/index.js';
import type { Claim } from '../store/index.js';
import { BatchDispatch, type BatchDispatchParts } from './batch-dispatch.js';
import { addSummaries, type DispatchSummary, nothingDispatched } from './dispatch-summary.js';

/** Two dispatchers that met at a lane try again after 1 to 6 ms, this often. */
const CONTENTION_WAIT_MS = 5;
const CONTENTION_ROUNDS = 20;

export interface DestinationDispatchParts extends BatchDispatchParts {
  /** Written into `lease_owner`. */
  readonly owner: string;
}

/** Claims for one destination and dispatches what it claimed. Holds no timer and no loop. */
export class DestinationDispatch {
  private readonly batch: BatchDispatch;
  private isConnected = false;
  private connecting: Promise<void> | undefined;

  constructor(private readonly parts: DestinationDispatchParts) {
    this.batch = new BatchDispatch(parts);
  }

  get name(): string {
    return this.parts.destination.name;
  }

  get batchesInFlight(): number {
    return this.parts.destination.batchesInFlight;
  }

  pausedForMs(): number {
    return this.parts.breaker.remainingMs();
  }

  /**
   * One claim; undefined when nothing is due, the destination is paused or PostgreSQL does not answer.
   *
   * @returns the running dispatch of the claimed batch.
   */
  async claim(draining: AbortSignal, cutOff: AbortSignal): Promise<{ done: Promise<DispatchSummary> } | undefined> {
    if (draining.aborted || this.pausedForMs() > 0 || !(await this.prepare(draining))) return undefined;
    const claimed = await this.claimOnce(draining);
    if (claimed === undefined) return undefined;
    const { claim, claimedAt } = claimed;
    await this.reportReaped(claim);
    return { done: this.batch.dispatch(claim, claimedAt, draining, cutOff) };
  }

  /** Claims and dispatches one batch after the other until nothing is due. */
  async drain(draining: AbortSignal, cutOff: AbortSignal): Promise<DispatchSummary> {
    let total = nothingDispatched;
    for (
      let batch = await this.claim(draining, cutOff);
      batch !== undefined;
      batch = await this.claim(draining, cutOff)
    ) {
      total = addSummaries(total, await batch.done);
    }
    return total;
  }

  async close(): Promise<void> {
    await this.parts.destination.transport.close?.();
  }

  /** Connects the transport and makes the lanes exist, before the first claim. A failure pauses this process alone. */
  private async prepare(draining: AbortSignal): Promise<boolean> {
    if (this.isConnected) return true;
    const { destination, store, breaker, log } = this.parts;
    try {
      await store.prepare(destination.name);
      log.databaseAnswered();
    } catch (error) {
      log.databaseFailed('claim', error);
      return false;
    }
    try {
      await this.connect(draining);
    } catch (error) {
      breaker.noteUnconnected(describeError(error));
    }
    return this.isConnected;
  }

  /** One attempt at a time, whoever asks. One that hangs counts as failed, and is waited for again after the pause. */
  private async connect(draining: AbortSignal): Promise<void> {
    const { publishTimeoutMs } = this.parts.destination;
    this.connecting ??= this.startConnecting();
    const over = new AbortController();
    const tooLate = waitFor(publishTimeoutMs, AbortSignal.any([draining, over.signal])).then(() => {
      if (!draining.aborted && !over.signal.aborted) throw new Error(`no connection within ${publishTimeoutMs} ms`);
    });
    try {
      await Promise.race([this.connecting, tooLate]);
    } finally {
      over.abort();
    }
  }

  private startConnecting(): Promise<void> {
    const connecting = (async () => {
      try {
        await this.parts.destination.transport.connect?.();
        this.isConnected = true;
      } finally {
        this.connecting = undefined;
      }
    })();
    connecting.catch(() => undefined); // reported to whoever waits; nobody may wait any more when it fails late
    return connecting;
  }

  private async claimOnce(draining: AbortSignal): Promise<{ claim: Claim; claimedAt: number } | undefined> {
    const { destination, store, breaker, log, owner, random } = this.parts;
    const { name, batchSize, batchBytes, leaseMs, maxAttempts } = destination;
    try {
      for (let round = 0; ; round += 1) {
        const claimedAt = monotonicMs();
        const answer = await store.claim({ destination: name, owner, leaseMs, batchSize, batchBytes, maxAttempts });
        log.databaseAnswered();
        if (answer.kind === 'claimed') return { claim: answer.claim, claimedAt };
        if (answer.kind === 'paused') breaker.noteResume(answer.resumeMs);
        if (answer.kind === 'nothing' && answer.isProbe) await breaker.giveProbeBack();
        if (answer.kind !== 'contended' || draining.aborted || round >= CONTENTION_ROUNDS) return undefined;
        await waitFor(1 + random() * CONTENTION_WAIT_MS, draining);
      }
    } catch (error) {
      log.databaseFailed('claim', error);
      return undefined;
    }
  }

  private async reportReaped(claim: Claim): Promise<void> {
    const { log, onDead, store } = this.parts;
    for (const { eventId, attempts } of claim.reaped)
      log.dead(eventId, attempts, 'the lease of the last attempt ended without an outcome');
    const passing = claim.reaped.filter(
      ({ orderingKey, type }) => orderingKey !== undefined && onDead(type) === 'skip',
    );
    if (passing.length === 0) return;
    try {
      await store.unblock(passing.map(({ id }) => id));
    } catch (error) {
      // The keys stay blocked, which is the safe side, and an operator can release them.
      log.databaseFailed('claim', error);
    }
  }
}
