/**
 * What `work` resolves to, or an error with the text `complaint` when that takes longer than `ms`, or when `signal`
 * aborts first. The work itself goes on; what becomes of it then is of no interest.
 */
export function within<T>(ms: number, complaint: string, work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const giveUp = (): void => {
      forget();
      reject(new Error(complaint));
    };
    const timer = setTimeout(giveUp, ms);
    const forget = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', giveUp);
    };
    signal.addEventListener('abort', giveUp, { once: true });
    if (signal.aborted) giveUp();
    work.finally(forget).then(resolve, reject);
  });
}
