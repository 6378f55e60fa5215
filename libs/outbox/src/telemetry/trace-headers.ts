import {
  type Context,
  isSpanContextValid,
  propagation,
  ROOT_CONTEXT,
  type SpanContext,
  type TextMapSetter,
  trace,
} from '@opentelemetry/api';
import type { EventHeaders } from '../event/index.js';

/** W3C Trace Context. What else a propagator would write, baggage above all, is not for every receiver of an event. */
const TRACE_HEADERS: readonly string[] = ['traceparent', 'tracestate'];

const traceHeadersOnly: TextMapSetter<Map<string, string>> = {
  set(carrier, name, value) {
    if (TRACE_HEADERS.includes(name) && value !== '') carrier.set(name, value);
  },
};

/** The span of a context as headers; undefined when there is none, or no propagator that writes W3C Trace Context. */
export function traceHeadersOf(context: Context): EventHeaders | undefined {
  const span = trace.getSpanContext(context);
  if (span === undefined || !isSpanContextValid(span)) return undefined;
  const headers = new Map<string, string>();
  propagation.inject(context, headers, traceHeadersOnly);
  return headers.has('traceparent') ? Object.fromEntries(headers) : undefined;
}

/** The span that created a message, by its headers. */
export function creationOf(headers: EventHeaders | undefined): SpanContext | undefined {
  if (headers?.traceparent === undefined) return undefined;
  const creation = trace.getSpanContext(propagation.extract(ROOT_CONTEXT, headers));
  return creation !== undefined && isSpanContextValid(creation) ? creation : undefined;
}

/** Somebody has said already which trace an event belongs to. */
export function carriesTrace(headers: EventHeaders | null | undefined): boolean {
  return headers != null && TRACE_HEADERS.some((name) => Object.hasOwn(headers, name));
}
