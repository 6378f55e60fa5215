import { AsyncLocalStorage } from 'node:async_hooks';

/**
 * Remembers the asynchronous context of now, and runs work in it later. A loop or timer that is started on behalf of a
 * request would else carry that request's user, tenant and transaction for ever.
 */
export function rememberContext(): <T>(work: () => T) => T {
  const run = AsyncLocalStorage.snapshot();
  return (work) => run(work);
}
