import type { Channel, Options, SocketOptions } from 'amqplib';
import { ConfigurationError } from '../../errors/index.js';
import { requireWhole } from '../require-whole.js';
import { requireSource } from '../source.js';
import type { OutgoingEvent } from '../transport.js';

export interface RabbitmqTransportOptions {
  /** Where RabbitMQ is: `amqp://…` or `amqps://…`, or the same as fields. */
  readonly url: string | Options.Connect;
  /** TLS and the like, as `amqplib` takes them. */
  readonly socketOptions?: SocketOptions;
  /** Exchange that events are published to; default `outbox`. It must exist, or `topology` must make it. */
  readonly exchange?: string;
  /** Default: the event's type. */
  readonly routingKey?: (event: OutgoingEvent) => string;
  /** Declares exchanges, queues and bindings; called on each new connection, before the first publish. */
  readonly topology?: (channel: Channel) => Promise<unknown>;
  /**
   * What an event is that reached no queue, because nothing is bound for its routing key: `retry` (default) until its
   * attempts are spent, or `dead` at once. It is never delivered.
   */
  readonly unroutable?: 'retry' | 'dead';
  /**
   * Largest payload in bytes that the broker takes; a larger one is dead. Default 16 MiB, that of RabbitMQ 4. For one that
   * is too large RabbitMQ closes the channel, and its neighbours would have to be sent again.
   */
  readonly maxMessageBytes?: number;
  /** CloudEvents `source`: a URI reference of the producing application; default `/nestjs-transactional-outbox`. */
  readonly source?: string;
}

export interface ResolvedRabbitmqOptions {
  readonly url: string | Options.Connect;
  readonly socketOptions: SocketOptions;
  readonly exchange: string;
  readonly routingKey: (event: OutgoingEvent) => string;
  readonly topology: (channel: Channel) => Promise<unknown>;
  readonly unroutable: 'retry' | 'dead';
  readonly maxMessageBytes: number;
  readonly source: string;
}

/** Longest name of an exchange or routing key: a short string of AMQP 0-9-1. */
export const MAX_SHORT_STRING_BYTES = 255;
const CONNECT_TIMEOUT_MS = 10_000;

/** @throws ConfigurationError */
export function resolveRabbitmqOptions(options: RabbitmqTransportOptions): ResolvedRabbitmqOptions {
  const { url, exchange = 'outbox', unroutable = 'retry' } = options;
  if (typeof url === 'string' ? !/^amqps?:\/\//.test(url) : typeof url !== 'object' || url === null) {
    throw new ConfigurationError(
      'RabbitmqTransport: "url" must be a URL (amqp:// or amqps://), or the fields that amqplib takes in its place.',
    );
  }
  if (typeof exchange !== 'string' || exchange === '' || Buffer.byteLength(exchange) > MAX_SHORT_STRING_BYTES) {
    throw new ConfigurationError(
      `RabbitmqTransport: "exchange" is ${JSON.stringify(exchange)}; a name has 1 to ${MAX_SHORT_STRING_BYTES} bytes.`,
    );
  }
  if (unroutable !== 'retry' && unroutable !== 'dead') {
    throw new ConfigurationError(
      `RabbitmqTransport: "unroutable" is ${JSON.stringify(unroutable)}; use 'retry' or 'dead'.`,
    );
  }
  return {
    url,
    socketOptions: { timeout: CONNECT_TIMEOUT_MS, ...options.socketOptions },
    exchange,
    routingKey: options.routingKey ?? (({ envelope }) => envelope.type),
    topology: options.topology ?? (async () => undefined),
    unroutable,
    maxMessageBytes: requireWhole('RabbitmqTransport', 'maxMessageBytes', options.maxMessageBytes ?? 16_777_216),
    source: requireSource('RabbitmqTransport', options.source),
  };
}
