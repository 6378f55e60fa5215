import { waitFor } from '../runtime/index.js';
import type { DestinationDispatch } from './destination-dispatch.js';

/**
 * Self-clocking loop of one destination: claims while there is work, keeps several batches in flight, then waits for a
 * wake-up. Destinations share no loop, so a slow one costs the others nothing. It ends only when told to.
 */
export class DestinationLoop {
  private readonly inFlight = new Set<Promise<void>>();
  private isWoken = false;
  private resume: (() => void) | undefined;

  constructor(
    private readonly dispatch: DestinationDispatch,
    private readonly draining: AbortSignal,
    private readonly cutOff: AbortSignal,
    /** Told about a fault of this library or of a transport; the loop goes on. */
    private readonly onFault: (error: unknown) => void,
  ) {
    draining.addEventListener('abort', () => this.wake(), { once: true });
  }

  get name(): string {
    return this.dispatch.name;
  }

  /** There may be work. Cheap, and never wrong to call. */
  wake(): void {
    this.isWoken = true;
    this.resume?.();
  }

  /** Resolves when draining was asked for and everything in flight has its outcome. Never rejects. */
  async run(): Promise<void> {
    while (!this.draining.aborted) {
      this.isWoken = false;
      if (this.inFlight.size >= this.dispatch.batchesInFlight) await Promise.race(this.inFlight);
      else if (!(await this.startNextBatch())) await this.idle();
    }
    await Promise.all(this.inFlight);
  }

  private async startNextBatch(): Promise<boolean> {
    try {
      const batch = await this.dispatch.claim(this.draining, this.cutOff);
      if (batch === undefined) return false;
      const running: Promise<void> = batch.done
        .then(() => undefined, this.onFault)
        .finally(() => this.inFlight.delete(running));
      this.inFlight.add(running);
      return true;
    } catch (error) {
      this.onFault(error);
      return false;
    }
  }

  /** Until a wake-up, the end of a batch (its lane is free again) or the end of a pause. */
  private async idle(): Promise<void> {
    if (this.isWoken) return;
    const slept = new AbortController();
    const woken = new Promise<void>((resolve) => {
      this.resume = resolve;
    });
    const pausedMs = this.dispatch.pausedForMs();
    await Promise.race([woken, ...this.inFlight, ...(pausedMs > 0 ? [waitFor(pausedMs, slept.signal)] : [])]);
    slept.abort();
    this.resume = undefined;
  }
}
