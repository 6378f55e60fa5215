/** What Nest's servers make of a message: which handler gets it, and with what. */
interface IncomingPacket {
  readonly pattern: unknown;
  readonly data: unknown;
  readonly id?: string;
}

interface DeserializerOptions {
  /** Of Kafka, NATS and Redis. */
  readonly channel?: string;
  /** Of RabbitMQ: the properties of the message. */
  readonly headers?: Readonly<Record<string, unknown>>;
}

/**
 * Brings CloudEvents to the handler of their type. Nest's RabbitMQ server looks for the pattern in the body, where an event
 * has none, and drops what has none: give it this as `deserializer`. What is no CloudEvent is left as Nest would.
 */
export class CloudEventDeserializer {
  deserialize(value: unknown, options: DeserializerOptions = {}): IncomingPacket {
    const { headers = {}, channel } = options;
    const type = headers.cloudEvents_type ?? headers['cloudEvents:type'] ?? typeOf(value);
    if (typeof type === 'string') return { pattern: type, data: value };
    if (isPacket(value)) return value;
    // A message that nobody can read must still come to somebody who parks it.
    return { pattern: channel ?? UNREADABLE, data: value };
  }
}

/** Pattern of messages that are neither CloudEvents nor packets of a Nest client; have a handler for it to see them. */
export const UNREADABLE = 'unreadable';

/** Of a CloudEvent in structured mode. */
function typeOf(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || !('specversion' in value)) return undefined;
  return (value as { type?: unknown }).type;
}

function isPacket(value: unknown): value is IncomingPacket {
  return typeof value === 'object' && value !== null && ('pattern' in value || 'data' in value);
}
