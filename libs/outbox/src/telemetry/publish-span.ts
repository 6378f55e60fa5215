import { type Attributes, ROOT_CONTEXT, type Span, SpanKind, trace } from '@opentelemetry/api';
import type { EventEnvelope } from '../event/index.js';
import { ATTRIBUTES } from './attributes.js';
import { PROMPT_MS } from './prompt.js';
import { libraryTracer } from './scope.js';
import { creationOf } from './trace-headers.js';

/** One event on its way. */
export interface Publishing {
  /** Milliseconds since the delivery was written, by the database's clock. */
  readonly ageMs: number;
  readonly event: {
    readonly envelope: Pick<EventEnvelope, 'id' | 'type' | 'headers'>;
    readonly attempt: number;
    readonly redrives: number;
  };
}

/**
 * A prompt first attempt belongs to the trace in which its event was emitted. Any other one begins a trace of its own,
 * with a link to that one. A client span, because the message carries the context of the emit, not of the publish.
 */
export function startPublishSpan({ ageMs, event }: Publishing, operation: Attributes): Span {
  const { id, type, headers } = event.envelope;
  const creation = creationOf(headers);
  const isPrompt = event.attempt === 1 && event.redrives === 0 && ageMs <= PROMPT_MS;
  const parent = creation !== undefined && isPrompt ? trace.setSpanContext(ROOT_CONTEXT, creation) : ROOT_CONTEXT;
  return libraryTracer().startSpan(
    `publish ${operation[ATTRIBUTES.destination]}`,
    {
      kind: SpanKind.CLIENT,
      attributes: {
        ...operation,
        [ATTRIBUTES.messageId]: id,
        [ATTRIBUTES.eventType]: type,
        [ATTRIBUTES.attempt]: event.attempt,
      },
      links: creation === undefined || isPrompt ? [] : [{ context: creation }],
    },
    parent,
  );
}
