import { delivered, type PublishOutcome } from '../publish-outcome.js';
import { retryAfterMs } from './retry-after.js';

/** Names in lower case; a header that came several times is a list. */
export type HttpResponseHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

/** All of a response that decides about the event; the body is never looked at. */
export interface HttpResponseHead {
  readonly status: number;
  readonly headers: HttpResponseHeaders;
}

/** Client errors that pass by themselves: Request Timeout, Too Early, Too Many Requests. */
const TRANSIENT_CLIENT_ERRORS: ReadonlySet<number> = new Set([408, 425, 429]);

/**
 * The default verdict: 2xx delivered; 408, 425, 429 and 5xx `retry`, or `defer` where a valid `Retry-After` says how
 * long; 3xx and every other 4xx `dead`. `inbox-outcome: duplicate` on a 2xx marks the delivery as a duplicate.
 */
export function classifyResponse(response: HttpResponseHead, origin: string, maxRetryAfterMs: number): PublishOutcome {
  const { status, headers } = response;
  const error = `${origin} answered ${status}`;
  if (status >= 200 && status < 300) {
    return headers['inbox-outcome'] === 'duplicate' ? { kind: 'delivered', duplicate: true } : delivered;
  }
  if (status < 400) return { kind: 'dead', error: `${error}; redirects are not followed.` };
  if (status < 500 && !TRANSIENT_CLIENT_ERRORS.has(status)) return { kind: 'dead', error: `${error}.` };
  const delayMs = retryAfterMs(headers['retry-after'], maxRetryAfterMs);
  if (delayMs === undefined) return { kind: 'retry', error: `${error}.` };
  return { kind: 'defer', reason: `${error} with Retry-After.`, delayMs };
}
