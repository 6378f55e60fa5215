import type { ProgressStore } from '../store/index.js';

const WRITE_EVERY_MS = 1000;

/**
 * Tells the others how much goes through a destination, once a second while something does. If the process dies here, what was
 * delivered since the last time is not counted; nothing else depends on it.
 */
export class ProgressMeter {
  private delivered = 0;
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly store: ProgressStore,
    private readonly destination: string,
  ) {}

  add(delivered: number): void {
    if (delivered === 0) return;
    this.delivered += delivered;
    this.timer ??= setTimeout(() => void this.write(), WRITE_EVERY_MS).unref();
  }

  /** Writes what is left. */
  async close(): Promise<void> {
    clearTimeout(this.timer);
    await this.write();
  }

  private async write(): Promise<void> {
    this.timer = undefined;
    const { delivered } = this;
    if (delivered === 0) return;
    this.delivered = 0;
    try {
      await this.store.note(this.destination, delivered);
    } catch {
      // PostgreSQL is away, which the next claim says; the count goes along with the next one.
      this.delivered += delivered;
    }
  }
}
