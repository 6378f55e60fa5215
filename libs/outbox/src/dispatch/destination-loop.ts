import { waitFor } from '../runtime/index.js';
import type { DestinationDispatch } from './destination-dispatch.js';

/** What is due later than this is asked for again then. */
const LONGEST_ALARM_MS = 60_000;

/**
 * Self-clocking loop of one destination: as many runners as batches may be in flight. A runner goes from batch to batch
 * while there is work, then sleeps; one that leaves work behind wakes the next, so a single event costs one look and
 * not one of each. Destinations share no loop, so a slow one costs the others nothing. It ends only when told to.
 */
export class DestinationLoop {
  private readonly sleepers: (() => void)[] = [];
  /** A wake-up that came while all runners were busy: one of them has to look again. */
  private isWoken = true;
  private alarm = new AbortController();

  constructor(
    private readonly dispatch: DestinationDispatch,
    private readonly draining: AbortSignal,
    private readonly cutOff: AbortSignal,
    /** Told about a fault of this library or of a transport; the loop goes on. */
    private readonly onFault: (error: unknown) => void,
  ) {
    draining.addEventListener('abort', () => this.end(), { once: true });
  }

  get name(): string {
    return this.dispatch.name;
  }

  /** There may be work. Cheap, and never wrong to call. */
  wake(): void {
    if (!this.wakeSleeper()) this.isWoken = true;
  }

  /** Resolves when draining was asked for and everything in flight has its outcome. Never rejects. */
  async run(): Promise<void> {
    await Promise.all(Array.from({ length: this.dispatch.batchesInFlight }, () => this.runner()));
  }

  private async runner(): Promise<void> {
    while (!this.draining.aborted) {
      if (this.isWoken) this.isWoken = false;
      else await new Promise<void>((resolve) => this.sleepers.push(resolve));
      await this.follow();
      this.setAlarm();
    }
  }

  private async follow(): Promise<void> {
    try {
      await this.dispatch.drain(this.draining, this.cutOff, () => this.wakeSleeper());
    } catch (error) {
      this.onFault(error);
    }
  }

  private wakeSleeper(): boolean {
    const sleeper = this.sleepers.shift();
    sleeper?.();
    return sleeper !== undefined;
  }

  /** Wakes the loop at the end of a pause, or when the next retry is due. */
  private setAlarm(): void {
    this.alarm.abort();
    const dueInMs = this.dispatch.dueInMs();
    if (dueInMs === undefined || this.draining.aborted) return;
    const alarm = new AbortController();
    this.alarm = alarm;
    void waitFor(Math.min(dueInMs, LONGEST_ALARM_MS), alarm.signal).then(() => {
      if (!alarm.signal.aborted) this.wake();
    });
  }

  private end(): void {
    this.alarm.abort();
    while (this.wakeSleeper());
  }
}
