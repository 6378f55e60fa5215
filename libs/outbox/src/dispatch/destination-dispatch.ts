import { describeError } from '../errors/index.js';
import { monotonicMs, waitFor } from '../runtime/index.js';
import type { Claim } from '../store/index.js';
import {
  type AnsweredClaim,
  BatchDispatch,
  type BatchDispatchParts,
  type PlanNext,
  type PlannedClaim,
} from './batch-dispatch.js';
import { addSummaries, type DispatchSummary, nothingDispatched } from './dispatch-summary.js';
import { LowWater } from './low-water.js';

/** Two dispatchers that met at a lane try again after 1 to 6 ms, this often. */
const CONTENTION_WAIT_MS = 5;
const CONTENTION_ROUNDS = 20;

export interface DestinationDispatchParts extends BatchDispatchParts {
  /** Written into `lease_owner`. */
  readonly owner: string;
  /** Told after each batch how much was delivered. */
  readonly onDelivered: (count: number) => void;
}

/** A claim that holds something. */
interface Claimed {
  readonly claim: Claim;
  /** Monotonic time from before it was sent. */
  readonly claimedAt: number;
  /** Another claim may find more at once. */
  readonly leavesMore: boolean;
}

interface Outlook {
  /** Monotonic time; undefined when nothing waits. */
  readonly nextDueAt: number | undefined;
}

/** Claims for one destination and dispatches what it claimed. Holds no timer and no loop. */
export class DestinationDispatch {
  private readonly batch: BatchDispatch;
  private readonly lowWater = new LowWater();
  /** What the last look that found nothing told about the next retry; undefined when its time has come since. */
  private outlook: Outlook | undefined;
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

  /** Milliseconds until there is something to do again: the end of a pause, or the next retry; undefined if unknown. */
  dueInMs(): number | undefined {
    const pausedMs = this.parts.breaker.remainingMs();
    if (pausedMs > 0) return pausedMs;
    const nextDueAt = this.outlook?.nextDueAt;
    return nextDueAt === undefined ? undefined : Math.max(0, nextDueAt - monotonicMs());
  }

  /** One claim and what becomes of it; undefined when nothing is due, the destination is paused or PostgreSQL away. */
  async dispatchOnce(draining: AbortSignal, cutOff: AbortSignal): Promise<DispatchSummary | undefined> {
    const claimed = await this.claim(draining);
    if (claimed === undefined) return undefined;
    const { summary } = await this.batch.dispatch(claimed.claim, claimed.claimedAt, () => undefined, draining, cutOff);
    this.parts.onDelivered(summary.delivered);
    return summary;
  }

  /**
   * One batch after the other until nothing is due, each claimed together with the finalize of the one before.
   *
   * @param onMore told of each claim that may have left something to others.
   */
  async drain(draining: AbortSignal, cutOff: AbortSignal, onMore?: () => void): Promise<DispatchSummary> {
    let total = nothingDispatched;
    let claimed = await this.claim(draining);
    while (claimed !== undefined) {
      const { claim, claimedAt, leavesMore } = claimed;
      if (leavesMore) onMore?.();
      // What is complete needs no further look: whoever commits something later wakes the loop, and the next retry is known.
      const isComplete = (delivered: number): boolean =>
        !leavesMore && delivered === claim.deliveries.length && this.outlook !== undefined;
      const planNext: PlanNext = ({ delivered }) =>
        isComplete(delivered.length) || draining.aborted || this.isPaused() ? undefined : this.plan();
      const { summary, next } = await this.batch.dispatch(claim, claimedAt, planNext, draining, cutOff);
      this.parts.onDelivered(summary.delivered);
      total = addSummaries(total, summary);
      if (next !== undefined)
        claimed = (await this.take(next)) ?? (isFinal(next) ? undefined : await this.claim(draining));
      else claimed = isComplete(summary.delivered) ? undefined : await this.claim(draining);
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
      await log.askingDatabase('claim', () => store.prepare(destination.name));
    } catch {
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

  /** Undefined when nothing is due, the destination is paused or PostgreSQL does not answer. */
  private async claim(draining: AbortSignal): Promise<Claimed | undefined> {
    const { random } = this.parts;
    for (let round = 0; ; round += 1) {
      if (draining.aborted || this.isPaused() || !(await this.prepare(draining))) return undefined;
      const asked = await this.ask(this.plan());
      if (asked === undefined) return undefined;
      const claimed = await this.take(asked);
      if (claimed !== undefined || isFinal(asked) || round >= CONTENTION_ROUNDS) return claimed;
      if (asked.answer.kind === 'contended') await waitFor(1 + random() * CONTENTION_WAIT_MS, draining);
    }
  }

  /** Undefined when PostgreSQL does not answer. */
  private async ask(planned: PlannedClaim): Promise<AnsweredClaim | undefined> {
    const { store, log } = this.parts;
    const askedAt = monotonicMs();
    try {
      const answer = await log.askingDatabase('claim', () => store.claim(planned.request));
      return { planned, answer, askedAt };
    } catch {
      return undefined;
    }
  }

  private plan(): PlannedClaim {
    const { destination, owner } = this.parts;
    const { name, batchSize, batchBytes, leaseMs, maxAttempts } = destination;
    // Were it kept until an answer comes, the loop would ask without a pause while PostgreSQL is away.
    if ((this.outlook?.nextDueAt ?? Number.POSITIVE_INFINITY) <= monotonicMs()) this.outlook = undefined;
    const reach = this.lowWater.next();
    const request = { destination: name, owner, leaseMs, batchSize, batchBytes, maxAttempts, fromUs: reach.fromUs };
    return { request, reach };
  }

  /** Draws from the answer what this dispatcher has to remember. */
  private async take({ planned: { reach }, answer, askedAt }: AnsweredClaim): Promise<Claimed | undefined> {
    const { breaker } = this.parts;
    breaker.notePausedByHand(answer.kind === 'paused-by-hand');
    switch (answer.kind) {
      case 'claimed': {
        const { claim } = answer;
        this.lowWater.note(reach, claim.lastUs);
        await this.reportReaped(claim);
        const leavesMore =
          claim.lane !== undefined || claim.lastUs !== undefined || reach.fromUs !== undefined || claim.isProbe;
        return { claim, claimedAt: askedAt, leavesMore };
      }
      case 'nothing':
        this.lowWater.note(reach, undefined);
        this.outlook = soonerOf(this.outlook, answer.nextDueMs);
        if (answer.isProbe) await breaker.giveProbeBack();
        return undefined;
      case 'paused':
        breaker.noteResume(answer.resumeMs);
        return undefined;
      case 'paused-by-hand':
        return undefined;
      case 'contended':
        return undefined;
    }
  }

  private isPaused(): boolean {
    return this.parts.breaker.remainingMs() > 0;
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
      await log.askingDatabase('claim', () => store.unblock(passing.map(({ id }) => id)));
    } catch {
      // The keys stay blocked, which is the safe side, and an operator can release them.
    }
  }
}

/** False when another look may find something at once: a hint hid it, or another dispatcher was just then busy with it. */
function isFinal({ planned, answer }: Pick<AnsweredClaim, 'planned' | 'answer'>): boolean {
  if (answer.kind === 'paused' || answer.kind === 'paused-by-hand') return true;
  return answer.kind === 'nothing' && planned.reach.fromUs === undefined;
}

/** An answer may be older than one that came before it, so it takes no time away that is still to come. */
function soonerOf(known: Outlook | undefined, nextDueMs: number | undefined): Outlook {
  const times = [known?.nextDueAt, nextDueMs === undefined ? undefined : monotonicMs() + nextDueMs];
  const ahead = times.filter((time) => time !== undefined);
  return { nextDueAt: ahead.length === 0 ? undefined : Math.min(...ahead) };
}
