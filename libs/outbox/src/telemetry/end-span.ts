import { type Span, SpanStatusCode } from '@opentelemetry/api';
import { ATTRIBUTES } from './attributes.js';

/** Ends a span. An error is told by its type alone: a message may quote a payload, and stands in the log. */
export function endSpan(span: Span, errorType?: string): void {
  if (errorType !== undefined) {
    span.setAttribute(ATTRIBUTES.errorType, errorType);
    span.setStatus({ code: SpanStatusCode.ERROR });
  }
  span.end();
}

/** The code of an error, as `23505`, `ECONNREFUSED` or one of docs/errors.md; its class when it has none. */
export function errorTypeOf(error: unknown): string {
  if (!(error instanceof Error)) return '_OTHER';
  const code = 'code' in error ? String(error.code) : '';
  return /^\w{1,40}$/.test(code) ? code : error.name;
}
