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

/** The class of an error, with its code when it has one: `QueryFailedError 23505`. */
export function errorTypeOf(error: unknown): string {
  if (!(error instanceof Error)) return '_OTHER';
  const code = 'code' in error ? error.code : undefined;
  const isCode = (typeof code === 'string' && /^\w{1,40}$/.test(code)) || typeof code === 'number';
  return isCode ? `${error.name} ${code}` : error.name;
}
