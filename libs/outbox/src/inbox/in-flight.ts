import { monotonicMs, waitFor } from '../runtime/index.js';

/**
 * Lets the deliveries of one event through one at a time, inside this process. The database would do it as well, but
 * each waiting delivery would hold a connection, and the first one may need another to finish.
 */
export class InFlight {
  private readonly holders = new Map<string, Promise<void>>();

  /**
   * Waits for whoever holds the key, at most until `deadlineMs` of the monotonic clock.
   *
   * @returns lets the next one through; undefined when the time was over.
   */
  async enter(key: string, deadlineMs: number): Promise<(() => void) | undefined> {
    for (let holder = this.holders.get(key); holder !== undefined; holder = this.holders.get(key)) {
      const remainingMs = deadlineMs - monotonicMs();
      if (remainingMs <= 0) return undefined;
      const left = new AbortController();
      void holder.then(() => left.abort());
      await waitFor(remainingMs, left.signal);
    }
    return this.hold(key);
  }

  private hold(key: string): () => void {
    const { promise, resolve } = withResolvers();
    this.holders.set(key, promise);
    return () => {
      this.holders.delete(key);
      resolve();
    };
  }
}

/** `Promise.withResolvers` came with Node 22. */
function withResolvers(): { promise: Promise<void>; resolve: () => void } {
  let settle: (() => void) | undefined;
  const promise = new Promise<void>((resolve) => {
    settle = resolve;
  });
  return { promise, resolve: () => settle?.() };
}
