import { rememberContext } from './detached.js';
import type { Random } from './random.js';
import { waitFor } from './wait.js';

/** The first time comes at most so long after the start. */
const LONGEST_FIRST_WAIT_MS = 60_000;
/** Later ones come after this share of the interval at the earliest. */
const SHORTEST_SHARE = 0.75;

export interface RecurrenceEvents {
  /** Told once, however often it fails in a row. */
  readonly onFailed: (error: unknown) => void;
  readonly onRecovered: () => void;
}

/**
 * Does a piece of work again and again until it is stopped, with jitter, so that processes which started together do not
 * work together. A failure does not end it.
 */
export class Recurrence {
  private readonly stopping = new AbortController();
  private readonly detached = rememberContext();
  private running: Promise<void> | undefined;
  private isFailing = false;

  constructor(
    private readonly everyMs: number,
    private readonly work: (signal: AbortSignal) => Promise<void>,
    private readonly events: RecurrenceEvents,
    private readonly random: Random,
  ) {}

  start(): void {
    this.running ??= this.detached(() => this.repeat());
  }

  /** Resolves when the work that is being done has ended. Never rejects. */
  async stop(): Promise<void> {
    this.stopping.abort();
    await this.running;
  }

  private async repeat(): Promise<void> {
    const { signal } = this.stopping;
    await waitFor(this.random() * Math.min(this.everyMs, LONGEST_FIRST_WAIT_MS), signal);
    while (!signal.aborted) {
      await this.once(signal);
      await waitFor(this.everyMs * (SHORTEST_SHARE + this.random() * (1 - SHORTEST_SHARE)), signal);
    }
  }

  private async once(signal: AbortSignal): Promise<void> {
    try {
      await this.work(signal);
      if (this.isFailing) this.events.onRecovered();
      this.isFailing = false;
    } catch (error) {
      if (!this.isFailing) this.events.onFailed(error);
      this.isFailing = true;
    }
  }
}
