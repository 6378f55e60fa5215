import { type Attributes, type Context, context, type Link, type Span, SpanKind, trace } from '@opentelemetry/api';
import type { EventHeaders } from '../event/index.js';
import { wallClockMs } from '../runtime/index.js';
import { ATTRIBUTES } from './attributes.js';
import { PROMPT_MS } from './prompt.js';
import { libraryTracer } from './scope.js';
import { creationOf } from './trace-headers.js';

/** A message for one consumer. */
export interface Processing {
  readonly consumer: string;
  readonly event: {
    readonly id: string;
    readonly type: string;
    readonly headers?: EventHeaders | undefined;
    readonly createdAt?: Date | undefined;
  };
}

/** A prompt message is processed in the trace in which its event was emitted; an older one is linked with it. */
export function startProcessSpan({ consumer, event }: Processing, operation: Attributes): Span {
  const { parent, links } = relationOf(event);
  const attributes = { ...operation, [ATTRIBUTES.messageId]: event.id, [ATTRIBUTES.eventType]: event.type };
  return libraryTracer().startSpan(`process ${consumer}`, { kind: SpanKind.CONSUMER, attributes, links }, parent);
}

/** There may be a span already, such as that of the request that brought the message. */
function relationOf({ headers, createdAt }: Processing['event']): { readonly parent: Context; readonly links: Link[] } {
  const surrounding = context.active();
  const creation = creationOf(headers);
  if (creation === undefined) return { parent: surrounding, links: [] };
  const active = trace.getSpanContext(surrounding);
  const isPrompt = createdAt === undefined || wallClockMs() - createdAt.getTime() <= PROMPT_MS;
  if (!isPrompt || active?.traceId === creation.traceId) return { parent: surrounding, links: [{ context: creation }] };
  return {
    parent: trace.setSpanContext(surrounding, creation),
    links: active === undefined ? [] : [{ context: active }],
  };
}
