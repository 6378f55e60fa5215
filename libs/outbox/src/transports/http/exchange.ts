import type { Agent, Dispatcher } from 'undici';
import type { HttpResponseHead } from './response-outcome.js';

export interface PostRequest {
  readonly url: URL;
  readonly headers: Record<string, string>;
  readonly body: Buffer;
}

export interface ExchangeLimits {
  readonly timeoutMs: number;
  readonly maxResponseBytes: number;
}

/** Why an exchange ended. */
export type Ending =
  | { readonly kind: 'complete' }
  | { readonly kind: 'timeout' }
  | { readonly kind: 'aborted' }
  | { readonly kind: 'too-long' }
  | { readonly kind: 'failed'; readonly error: unknown };

/** How far an exchange came, and why not further. */
export interface ExchangeResult {
  /** False: not one byte of the request left this process. True: the receiver may have all of it. */
  readonly wasSent: boolean;
  /** Status and headers, once they were there. */
  readonly head: HttpResponseHead | undefined;
  readonly ending: Ending;
}

/**
 * One POST within one deadline. Never rejects. Once it has resolved nothing more is sent: a request that still waits
 * for a connection is dropped when its turn comes, and a socket in use is destroyed unless the response was complete.
 */
export function exchange(
  agent: Agent,
  request: PostRequest,
  limits: ExchangeLimits,
  signals: readonly AbortSignal[],
): Promise<ExchangeResult> {
  return new Promise((resolve) => {
    const run = new ExchangeRun(limits.maxResponseBytes, (result) => {
      clearTimeout(timer);
      for (const signal of signals) signal.removeEventListener('abort', abort);
      resolve(result);
    });
    const abort = (): void => {
      const isTimeOver = signals.some((signal) => signal.aborted && isTimeout(signal.reason));
      run.stop({ kind: isTimeOver ? 'timeout' : 'aborted' });
    };
    const timer = setTimeout(() => run.stop({ kind: 'timeout' }), limits.timeoutMs);
    // Not AbortSignal.any: on Node 20 a long-lived signal remembers every signal that was made from it.
    for (const signal of signals) signal.addEventListener('abort', abort);
    if (signals.some((signal) => signal.aborted)) return abort();
    const { url, headers, body } = request;
    agent.dispatch({ origin: url.origin, path: `${url.pathname}${url.search}`, method: 'POST', headers, body }, run);
  });
}

/** What `AbortSignal.timeout` aborts with. */
function isTimeout(reason: unknown): boolean {
  return reason instanceof DOMException && reason.name === 'TimeoutError';
}

class ExchangeRun implements Dispatcher.DispatchHandler {
  #controller: Dispatcher.DispatchController | undefined;
  #head: HttpResponseHead | undefined;
  #bodyBytes = 0;
  #isOver = false;

  constructor(
    private readonly maxResponseBytes: number,
    private readonly finish: (result: ExchangeResult) => void,
  ) {}

  /** Called in the moment before the first byte is written to a connected socket. */
  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (this.#isOver) controller.abort(exchangeOver());
    else this.#controller = controller;
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: HttpResponseHead['headers']): void {
    // Interim responses (1xx) come before the one that counts.
    if (status >= 200) this.#head = { status, headers };
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#bodyBytes += chunk.length;
    if (this.#bodyBytes > this.maxResponseBytes) this.stop({ kind: 'too-long' });
  }

  onResponseEnd(): void {
    this.#end({ kind: 'complete' });
  }

  onResponseError(_: Dispatcher.DispatchController, error: unknown): void {
    this.#end({ kind: 'failed', error });
  }

  stop(ending: Ending): void {
    this.#end(ending);
    this.#controller?.abort(exchangeOver());
  }

  #end(ending: Ending): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.finish({ wasSent: this.#controller !== undefined, head: this.#head, ending });
  }
}

/** Only undici sees it: the outcome was settled before. */
function exchangeOver(): Error {
  return new Error('the exchange is over');
}
