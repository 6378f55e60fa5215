/** Tells listeners in this process that something happened. A hint only: nothing may depend on its arrival. */
export class Signal<T> {
  private readonly listeners = new Set<(value: T) => void>();

  /** @param onFault told what a listener threw: it is neither the matter of who announces, nor of other listeners. */
  constructor(private readonly onFault: (error: unknown) => void) {}

  /** @returns takes the listener away again. */
  subscribe(listener: (value: T) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** Never throws. */
  announce(value: T): void {
    for (const listener of this.listeners) {
      try {
        listener(value);
      } catch (error) {
        this.onFault(error);
      }
    }
  }
}
