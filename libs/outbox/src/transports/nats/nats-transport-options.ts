import { connect, type NatsConnection, type NodeConnectionOptions } from '@nats-io/transport-node';
import { ConfigurationError } from '../../errors/index.js';
import { requireWhole } from '../require-whole.js';
import { requireSource } from '../source.js';
import type { OutgoingEvent } from '../transport.js';

export interface NatsTransportOptions {
  /**
   * Where NATS is: one address or several, the options of `connect()` of `@nats-io/transport-node`, or a function that
   * connects. The transport closes the connection, so it must not be shared.
   */
  readonly nats: string | readonly string[] | NodeConnectionOptions | (() => Promise<NatsConnection>);
  /** Default `outbox.event.` and the aggregate type. A stream must take it. */
  readonly subject?: (event: OutgoingEvent) => string;
  /** Milliseconds to wait for the acknowledgement of the stream; default 5,000. */
  readonly ackTimeoutMs?: number;
  /** CloudEvents `source`: a URI reference of the producing application; default `/nestjs-transactional-outbox`. */
  readonly source?: string;
}

export interface ResolvedNatsOptions {
  readonly connect: () => Promise<NatsConnection>;
  readonly subject: (event: OutgoingEvent) => string;
  readonly ackTimeoutMs: number;
  readonly source: string;
}

/** @throws ConfigurationError */
export function resolveNatsOptions(options: NatsTransportOptions): ResolvedNatsOptions {
  return {
    connect: connector('NatsTransport', options.nats),
    subject: options.subject ?? (({ envelope }) => `outbox.event.${envelope.aggregateType}`),
    ackTimeoutMs: requireWhole('NatsTransport', 'ackTimeoutMs', options.ackTimeoutMs ?? 5000),
    source: requireSource('NatsTransport', options.source),
  };
}

/** @throws ConfigurationError */
export function connector(user: string, nats: NatsTransportOptions['nats']): () => Promise<NatsConnection> {
  if (typeof nats === 'function') return nats;
  // What waits for a reconnect would be sent after its time was over; the dispatcher decides when to try again.
  if (typeof nats === 'string' || Array.isArray(nats))
    return () => connect({ servers: nats as string[], reconnect: false });
  if (typeof nats === 'object' && nats !== null)
    return () => connect({ ...(nats as NodeConnectionOptions), reconnect: false });
  throw new ConfigurationError(
    `${user}: "nats" must be an address such as "127.0.0.1:4222", several, options of connect(), or a function that connects.`,
  );
}
