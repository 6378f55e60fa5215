import { CloudEvent } from 'cloudevents';
import type { EventEnvelope, EventHeaders } from './envelope.js';
import type { ReceivedEvent } from './received-event.js';

/** Digits of a padded sequence: CloudEvents asks that `sequence` sorts as text, and 19 hold every bigint. */
const SEQUENCE_DIGITS = 19;

/** Headers with an attribute of their own, because CloudEvents names them (distributed tracing extension). */
const TRACE_HEADERS: readonly string[] = ['traceparent', 'tracestate'];

/**
 * The event as a CloudEvent 1.0. `subject` and the extension `partitionkey` are the aggregate's id; `aggregatetype`,
 * `dataversion` and `outboxheaders` (a JSON object as text) carry the rest.
 *
 * @param source URI reference of the producing application.
 */
export function envelopeToCloudEvent(envelope: EventEnvelope, source: string): CloudEvent<unknown> {
  const headers = Object.entries(envelope.headers);
  const others = headers.filter((header) => !isTrace(header));
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
    ...Object.fromEntries(headers.filter(isTrace)),
    ...(others.length === 0 ? {} : { outboxheaders: JSON.stringify(Object.fromEntries(others)) }),
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

/** An attribute must not be empty. */
function isTrace([name, value]: readonly [string, string]): boolean {
  return value !== '' && TRACE_HEADERS.includes(name);
}

/** By entries, because an assignment to "__proto__" would set the prototype instead of a header. */
function readHeaders(event: CloudEvent<unknown>): EventHeaders {
  const others = Object.entries(parseObject(readText(event, 'outboxheaders'))).filter(
    (header): header is [string, string] => typeof header[1] === 'string',
  );
  const traces = TRACE_HEADERS.flatMap((name) => {
    const value = readText(event, name);
    return value === undefined ? [] : [[name, value] as const];
  });
  return Object.fromEntries([...others, ...traces]);
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
