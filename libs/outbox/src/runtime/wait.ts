/**
 * Resolves after `ms` or as soon as `signal` aborts, whichever is first; it never rejects.
 * Whoever waits owns the signal and aborts it when it stops, so no timer outlives its owner.
 */
export function waitFor(ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const finish = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', finish);
      resolve();
    };
    const timer = setTimeout(finish, ms);
    signal.addEventListener('abort', finish, { once: true });
  });
}
