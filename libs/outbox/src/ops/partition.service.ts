import { wholeNumber } from '../config/index.js';
import { UpkeepPostponedError } from '../errors/index.js';
import { fullJitterMs, systemRandom, waitFor } from '../runtime/index.js';
import {
  coversDay,
  DAY_MS,
  isLockTimeout,
  type LogConversion,
  type LogLayout,
  type LogPartition,
  type PartitionContents,
  type PartitionStore,
  startOfDay,
  type Turn,
} from '../store/index.js';
import { ageMs, lockTimeoutMs } from './upkeep-bounds.js';

/**
 * The promise that nothing of later days is in the log must hold until it is swapped, or nothing could be stored: as a
 * process may die in between, there is a week in which the next upkeep takes the promise back.
 */
const LEGACY_DAYS = 7;
const PAUSE_BASE_MS = 50;
const PAUSE_CAP_MS = 2000;
const DEFAULT_AHEAD_DAYS = 7;

export interface LockOptions {
  /** Longest wait for a lock in ms, and so the longest that others wait behind this one; 1 to 60,000, default 200. */
  readonly lockTimeoutMs?: number;
}

export interface PartitionOptions extends LockOptions {
  /**
   * How often a step is tried that finds the log in use or does not get its lock in time, with a random pause of up to
   * 2 s; 1 to 10,000, default 50.
   */
  readonly attempts?: number;
}

export interface MaintainOptions extends LockOptions {
  /** Days after today that have a partition of their own; 1 to 60, default 7. */
  readonly aheadDays?: number;
  /** Age from which a partition with nothing but delivered events is dropped; default: none is. */
  readonly deliveredForMs?: number;
}

/** A partition that is old enough to go, or that should be there, and why it did not come to it. */
export interface KeptPartition {
  readonly name: string;
  readonly reason: string;
  /** What is in it that has to stay. */
  readonly contents?: PartitionContents;
}

export interface MaintainedPartitions {
  readonly isPartitioned: boolean;
  /** Names of the tables. */
  readonly made: readonly string[];
  readonly dropped: readonly string[];
  /** Events that went from the default partition to that of their day. */
  readonly moved: number;
  /** To be told to whoever operates: look at the dead letters, for example. */
  readonly kept: readonly KeptPartition[];
  /** Did not get a lock in time; the next run tries again. */
  readonly postponed: readonly KeptPartition[];
  /** True when it stopped because another process was at it, which goes on. */
  readonly yielded: boolean;
}

/**
 * Keeps the event log in daily partitions, so that old events go by dropping a table instead of deleting rows. A
 * partition is dropped only when a query proves, under its lock, that nothing undelivered, dead, kept or young is in it.
 * Events can always be stored: what has no partition of its own goes to a default one.
 */
export class PartitionService {
  constructor(
    private readonly store: PartitionStore,
    private readonly conversion: LogConversion,
  ) {}

  /** The partitions of the log, oldest first; none where it is not partitioned. */
  async list(): Promise<readonly LogPartition[]> {
    return (await this.store.layout()).partitions;
  }

  /**
   * Moves the log to partitions, once, empty or full, while events are being emitted, which wait for at most the lock
   * timeout at a time. What is in the log by then, and what comes in the next week, stays together in one partition;
   * then each day has its own. May be repeated after a failure, also after the death of the process.
   *
   * @param signal stops between two attempts.
   * @returns `already` when there was nothing to do.
   * @throws ConfigurationError with everything that stands in the way, such as ids that are no UUID version 7, before
   * anything was changed.
   */
  async partition(options: PartitionOptions = {}, signal?: AbortSignal): Promise<'partitioned' | 'already'> {
    const timeoutMs = lockTimeoutMs(options.lockTimeoutMs);
    const attempts = wholeNumber('attempts', options.attempts, 50, 1, 10_000);
    const { isPartitioned, nowMs } = await this.store.layout();
    if (isPartitioned) return 'already';
    await this.conversion.requirePossible();
    const untilMs = startOfDay(nowMs) + LEGACY_DAYS * DAY_MS;
    const patiently = <T>(step: () => Promise<Turn<T>>): Promise<T> => repeat(step, attempts, signal);
    let isSwapped = false;
    try {
      for (;;) {
        if ((await patiently(() => this.conversion.promise(untilMs, timeoutMs))) === 'partitioned already') break;
        await patiently(() => this.conversion.prove(timeoutMs));
        const swap = await patiently(() => this.conversion.swap(untilMs, timeoutMs));
        if (swap === 'not prepared') continue; // another process replaced the promise by its own
        isSwapped = swap === 'partitioned';
        break;
      }
    } catch (error) {
      await repeat(() => this.conversion.withdraw(timeoutMs), attempts).catch(() => {
        throw new UpkeepPostponedError(
          'the event log could not be partitioned, nor what was prepared be taken back. Run maintain() within a week, which does: after that nothing could be stored.',
          error,
        );
      });
      throw error;
    }
    await this.maintain({ lockTimeoutMs: timeoutMs });
    return isSwapped ? 'partitioned' : 'already';
  }

  /**
   * Makes the partitions of the days to come, and drops those of which everything is delivered and old. Several
   * processes may run it at once: one at a time works, the others do nothing.
   */
  async maintain(options: MaintainOptions = {}, signal?: AbortSignal): Promise<MaintainedPartitions> {
    const aheadDays = wholeNumber('aheadDays', options.aheadDays, DEFAULT_AHEAD_DAYS, 1, 60);
    const timeoutMs = lockTimeoutMs(options.lockTimeoutMs);
    const layout = await this.store.layout();
    const report = new Report(layout.isPartitioned);
    if (!layout.isPartitioned) {
      await report.take('the log', () => this.conversion.withdraw(timeoutMs));
      return report;
    }
    const today = startOfDay(layout.nowMs);
    for (let day = 0; day <= aheadDays && report.mayGoOn(signal); day += 1) {
      // All of them need the default partition: who holds it for the one holds it for the next.
      if (report.postponed.length > 0) break;
      await this.makeDay(today + day * DAY_MS, layout, timeoutMs, report);
    }
    if (options.deliveredForMs === undefined) return report;
    const deliveredForMs = ageMs('deliveredForMs', options.deliveredForMs);
    for (const partition of layout.partitions) {
      if (!report.mayGoOn(signal)) break;
      const { to } = partition;
      if (to === undefined || to.getTime() > layout.nowMs - deliveredForMs) continue;
      await this.drop(partition, deliveredForMs, timeoutMs, report);
    }
    return report;
  }

  private async makeDay(startMs: number, { partitions }: LogLayout, timeoutMs: number, report: Report): Promise<void> {
    if (partitions.some((partition) => coversDay(partition, startMs))) return;
    const name = new Date(startMs).toISOString().slice(0, 10);
    const day = await report.take(name, () => this.store.makeDay(startMs, timeoutMs));
    if (day?.outcome === 'crowded') {
      const reason = `at least ${day.atLeast} events of that day are in the default partition, too many to move: they stay there until retention removes them`;
      report.kept.push({ name, reason });
    } else if (day?.outcome === 'made') {
      report.made.push(day.name);
      report.moved += day.moved;
    }
  }

  private async drop(partition: LogPartition, ageMs: number, timeoutMs: number, report: Report): Promise<void> {
    const { name } = partition;
    const drop = await report.take(name, () => this.store.drop(partition, ageMs, timeoutMs));
    if (drop?.outcome === 'dropped') report.dropped.push(name);
    else if (drop?.outcome === 'in use') report.postponed.push({ name, reason: `in use by ${drop.by}` });
    else if (drop?.outcome === 'kept')
      report.kept.push({ name, reason: reasonOf(drop.contents), contents: drop.contents });
  }
}

class Report implements MaintainedPartitions {
  readonly made: string[] = [];
  readonly dropped: string[] = [];
  readonly kept: KeptPartition[] = [];
  readonly postponed: KeptPartition[] = [];
  moved = 0;
  yielded = false;

  constructor(readonly isPartitioned: boolean) {}

  mayGoOn(signal: AbortSignal | undefined): boolean {
    return !this.yielded && signal?.aborted !== true;
  }

  /** What a turn came to; undefined when it was another's, or did not get its locks. */
  async take<T>(name: string, turn: () => Promise<Turn<T>>): Promise<T | undefined> {
    try {
      const taken = await turn();
      if (taken.isOurs) return taken.result;
      this.yielded = true;
    } catch (error) {
      if (!isLockTimeout(error)) throw error;
      this.postponed.push({ name, reason: 'no lock within the lock timeout' });
    }
    return undefined;
  }
}

/**
 * Tries again while another process has its turn, or others hold the locks.
 *
 * @throws UpkeepPostponedError when that was so each time.
 */
async function repeat<T>(step: () => Promise<Turn<T>>, attempts: number, signal?: AbortSignal): Promise<T> {
  const pause = signal ?? new AbortController().signal;
  let cause: unknown;
  for (let attempt = 1; attempt <= attempts; attempt += 1) {
    try {
      const turn = await step();
      if (turn.isOurs && turn.result !== 'in use') return turn.result;
    } catch (error) {
      if (!isLockTimeout(error)) throw error;
      cause = error;
    }
    await waitFor(fullJitterMs(attempt, PAUSE_BASE_MS, PAUSE_CAP_MS, systemRandom), pause);
    signal?.throwIfAborted();
  }
  throw new UpkeepPostponedError(
    `a table of the outbox was not to be had in ${attempts} attempts: long transactions hold it, or another process is busy with its upkeep. Try again when there are none.`,
    cause,
  );
}

function reasonOf({ undelivered, deadLetters, kept, young }: PartitionContents): string {
  return [
    [undelivered, 'undelivered'],
    [deadLetters, 'dead letters'],
    [kept, 'delivered and kept'],
    [young, 'younger than the retention'],
  ]
    .filter(([count]) => count !== 0)
    .map(([count, what]) => `${count} ${what}`)
    .join(', ');
}
