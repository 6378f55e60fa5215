/** Settles as `work` does, or resolves with `otherwise()` as soon as `signal` aborts; then `work` is left to itself. */
export function untilAborted<T, U>(work: Promise<T>, signal: AbortSignal, otherwise: () => U): Promise<T | U> {
  return new Promise((resolve, reject) => {
    const abort = (): void => resolve(otherwise());
    const settled = work.finally(() => signal.removeEventListener('abort', abort));
    signal.addEventListener('abort', abort, { once: true });
    settled.then(resolve, reject);
    if (signal.aborted) abort();
  });
}
