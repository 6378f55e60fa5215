import { CloudEvent } from 'cloudevents';
import type { EventEnvelope, EventHeaders } from './envelope.js';
import type { ReceivedEvent } from './received-event.js';

/** Digits of a padded sequence: CloudEvents asks that `sequence` sorts as text, and 19 hold every bigint. */
const SEQUENCE_DIGITS = 19;

/** Headers with an attribute of their own, because CloudEvents names them (distributed tracing extension). */
const TRACE_HEADERS = ['traceparent', 'tracestate'] as const;

/**
 * The event as a CloudEvent 1.0. `subject` and the extension `partitionkey` are the aggregate's id; `aggregatetype`,
 * `dataversion` and `outboxheaders` (a JSON object as text) carry the rest.
 *
 * @param source URI reference of the producing application.
 */
export function envelopeToCloudEvent(envelope: EventEnvelope, source: string): CloudEvent<unknown> {
  const { traceparent, tracestate, ...others } = envelope.headers;
  return new CloudEvent<unknown>({
    id: envelope.id,
    source,
    type: envelope.type,
    subject: envelope.aggregateId,
    time: envelope.createdAt.toISOString(),
    datacontenttype: 'application/json',
    data: envelope.payload,
    aggregatetype: envelope.aggregateType,
    partitionkey: envelope.aggregateId,
    dataversion: envelope.version,
    ...(envelope.sequence === undefined
      ? {}
      : { sequence: envelope.sequence.toString().padStart(SEQUENCE_DIGITS, '0') }),
    ...(traceparent === undefined ? {} : { traceparent }),
    ...(tracestate === undefined ? {} : { tracestate }),
    ...(Object.keys(others).length === 0 ? {} : { outboxheaders: JSON.stringify(others) }),
  });
}

/** Reads a validated CloudEvent of any producer; what only ours sends is undefined for the others. */
export function cloudEventToReceivedEvent(event: CloudEvent<unknown>): ReceivedEvent {
  const sequence = readText(event, 'sequence');
  const version = event.dataversion;
  return {
    id: event.id,
    source: event.source,
    type: event.type,
    payload: event.data,
    headers: readHeaders(event),
    version: typeof version === 'number' ? version : Number.parseInt(readText(event, 'dataversion') ?? '1', 10) || 1,
    aggregateType: readText(event, 'aggregatetype'),
    aggregateId: readText(event, 'partitionkey') ?? event.subject,
    sequence: sequence !== undefined && /^\d+$/.test(sequence) ? BigInt(sequence) : undefined,
    createdAt: event.time === undefined ? undefined : new Date(event.time),
  };
}

function readHeaders(event: CloudEvent<unknown>): EventHeaders {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(parseObject(readText(event, 'outboxheaders')))) {
    if (typeof value === 'string') headers[name] = value;
  }
  for (const name of TRACE_HEADERS) {
    const value = readText(event, name);
    if (value !== undefined) headers[name] = value;
  }
  return headers;
}

/** Headers are an extra: a foreign producer's `outboxheaders` that is no JSON object counts as none. */
function parseObject(text: string | undefined): object {
  try {
    const parsed: unknown = JSON.parse(text ?? '{}');
    return typeof parsed === 'object' && parsed !== null ? parsed : {};
  } catch {
    return {};
  }
}

function readText(event: CloudEvent<unknown>, attribute: string): string | undefined {
  const value = event[attribute];
  return typeof value === 'string' && value !== '' ? value : undefined;
}
