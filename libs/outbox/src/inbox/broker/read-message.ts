import { InboxRefusedError } from '../../errors/index.js';
import type { ReceivedEvent } from '../../event/index.js';
import type { RawMessage } from '../../store/index.js';
import { mediaTypeOf } from '../cloud-event/media-type.js';
import { decodeHeaderValue, prefixedAttributes } from '../cloud-event/prefixed-attributes.js';
import { readCloudEvent } from '../cloud-event/read-cloud-event.js';

/** How the bindings mark attributes: AMQP (two spellings), Kafka, and NATS, which writes values as HTTP does. */
const PREFIXES = [
  { prefix: 'cloudEvents_', isEncoded: false },
  { prefix: 'cloudEvents:', isEncoded: false },
  { prefix: 'ce_', isEncoded: false },
  { prefix: 'ce-', isEncoded: true },
] as const;

const STRUCTURED_TYPE = 'application/cloudevents+json';
const JSON_TYPE = 'application/json';

/**
 * Reads an event from a message of any broker: a CloudEvent in binary or structured mode, by itself or in the packet of a
 * Nest client, or a record of Debezium's Outbox Event Router, which has the event's id in the header `id`.
 *
 * @throws InboxRefusedError 400 when it is none of these, 422 for batches and binary data.
 */
export function readMessage(raw: RawMessage): ReceivedEvent {
  const mediaType = mediaTypeOf(raw.contentType);
  const attributes = attributesOf(raw);
  const isStructured = mediaType.startsWith('application/cloudevents');
  const body = raw.body.toString('utf8');
  if (!isStructured && Object.keys(attributes).length > 0) {
    return readCloudEvent({ mediaType: mediaType || JSON_TYPE, body, attributesAre: '', attributes: () => attributes });
  }
  const embedded = isStructured ? body : embeddedEvent(body);
  if (embedded !== undefined) {
    const structuredType = isStructured ? mediaType : STRUCTURED_TYPE;
    return readCloudEvent({ mediaType: structuredType, body: embedded, attributesAre: '', attributes: () => ({}) });
  }
  if (raw.headers.id !== undefined) return routedEvent(raw, raw.headers.id, body);
  throw new InboxRefusedError(
    'the message is no event: it has neither the attributes of a CloudEvent as headers, nor a CloudEvent as its body, nor the header "id" of Debezium.',
    400,
  );
}

function attributesOf({ headers }: RawMessage): Record<string, string> {
  for (const { prefix, isEncoded } of PREFIXES) {
    const attributes = Object.entries(prefixedAttributes(Object.entries(headers), prefix));
    if (attributes.length === 0) continue;
    return Object.fromEntries(
      attributes.map(([name, value]) => [name, isEncoded ? decodeHeaderValue(`${prefix}${name}`, value) : value]),
    );
  }
  return {};
}

/** A CloudEvent that is the body, or the data of a packet `{ pattern, data }`, as Nest's clients write it. */
function embeddedEvent(body: string): string | undefined {
  const parsed = parseObject(body);
  if (parsed === undefined) return undefined;
  if ('specversion' in parsed) return body;
  const { data } = parsed as { data?: unknown };
  const isPacket = 'pattern' in parsed && typeof data === 'object' && data !== null && 'specversion' in data;
  return isPacket ? JSON.stringify(data) : undefined;
}

/** The router puts the type into a header only when it is told to; else the topic has to say it. */
function routedEvent({ headers, source }: RawMessage, id: string, body: string): ReceivedEvent {
  const payload = parseJson(body);
  return {
    id,
    source,
    type: headers.eventType ?? headers.type ?? 'debezium.outbox',
    payload,
    headers: {},
    version: 1,
    aggregateType: undefined,
    aggregateId: undefined,
    sequence: undefined,
    createdAt: undefined,
  };
}

function parseObject(text: string): object | undefined {
  try {
    const parsed: unknown = JSON.parse(text);
    return typeof parsed === 'object' && parsed !== null ? parsed : undefined;
  } catch {
    return undefined; // whoever needs it to be JSON says so
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new InboxRefusedError('the body is no JSON.', 400, { cause: error });
  }
}
