import { Cluster, Redis, type RedisOptions } from 'ioredis';
import { ConfigurationError } from '../../errors/index.js';
import { requireWhole } from '../require-whole.js';
import { requireSource } from '../source.js';
import type { OutgoingEvent } from '../transport.js';

export interface RedisStreamsTransportOptions {
  /**
   * Where Redis is: `redis://…` or `rediss://…`, options of ioredis (Sentinel and TLS included), or a function that
   * makes a client, for a cluster. The transport connects, reconnects and disconnects it, so it must not be shared.
   */
  readonly redis: string | RedisOptions | (() => Redis | Cluster);
  /** Name of the stream; default `outbox.event.` and the aggregate type. All events of an aggregate belong into one. */
  readonly stream?: (event: OutgoingEvent) => string;
  /** About how many entries a stream keeps (`MAXLEN ~`); older ones are gone, read or not. Default: all. */
  readonly maxLength?: number;
  /** CloudEvents `source`: a URI reference of the producing application; default `/nestjs-transactional-outbox`. */
  readonly source?: string;
}

export interface ResolvedRedisStreamsOptions {
  readonly createClient: () => Redis | Cluster;
  readonly stream: (event: OutgoingEvent) => string;
  /** 0: streams are not trimmed. */
  readonly maxLength: number;
  readonly source: string;
}

/** @throws ConfigurationError */
export function resolveRedisStreamsOptions(options: RedisStreamsTransportOptions): ResolvedRedisStreamsOptions {
  return {
    createClient: clientFactory('RedisStreamsTransport', options.redis),
    stream: options.stream ?? (({ envelope }) => `outbox.event.${envelope.aggregateType}`),
    maxLength:
      options.maxLength === undefined ? 0 : requireWhole('RedisStreamsTransport', 'maxLength', options.maxLength),
    source: requireSource('RedisStreamsTransport', options.source),
  };
}

/** @throws ConfigurationError */
export function clientFactory(user: string, redis: RedisStreamsTransportOptions['redis']): () => Redis | Cluster {
  if (typeof redis === 'function') return redis;
  if (typeof redis === 'object' && redis !== null) return () => new Redis({ ...redis, ...OURS });
  if (typeof redis === 'string' && /^rediss?:\/\//.test(redis)) return () => new Redis(redis, OURS);
  throw new ConfigurationError(
    `${user}: "redis" must be a URL (redis:// or rediss://), options of ioredis, or a function that makes a client.`,
  );
}

/** The dispatcher decides when to try again, and what waits in a queue here would be sent after its time was over. */
const OURS: RedisOptions = {
  lazyConnect: true,
  enableOfflineQueue: false,
  retryStrategy: () => null,
  maxRetriesPerRequest: 0,
};
