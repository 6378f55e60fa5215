/** Tells listeners in this process that something happened. A hint only: nothing may depend on its arrival. */
export class Signal<T> {
  private readonly listeners = new Set<(value: T) => void>();

  /** @returns takes the listener away again. */
  subscribe(listener: (value: T) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  announce(value: T): void {
    for (const listener of this.listeners) listener(value);
  }
}
