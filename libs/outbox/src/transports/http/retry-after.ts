import { wallClockMs } from '../../runtime/index.js';

/** `Sun, 06 Nov 1994 08:49:37 GMT`, the only form that RFC 9110 lets a server send. */
const HTTP_DATE = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;

/**
 * Milliseconds that a `Retry-After` asks for: from 1 to `maxMs`. Undefined when it is absent, malformed, given several
 * times, zero or past; the normal back-off applies then.
 */
export function retryAfterMs(value: string | readonly string[] | undefined, maxMs: number): number | undefined {
  if (typeof value !== 'string') return undefined;
  const delayMs = parseDelayMs(value.trim());
  // A digit string may be Infinity as a number and a date NaN; neither may pass.
  return delayMs > 0 ? Math.min(delayMs, maxMs) : undefined;
}

function parseDelayMs(text: string): number {
  if (/^\d+$/.test(text)) return Number(text) * 1000;
  return HTTP_DATE.test(text) ? Date.parse(text) - wallClockMs() : Number.NaN;
}
