import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { Cluster, Redis } from 'ioredis';
import { ConfigurationError } from '../../../errors/index.js';
import { requireWhole } from '../../require-whole.js';
import { clientFactory, type RedisStreamsTransportOptions } from '../redis-streams-transport-options.js';

export interface RedisStreamsServerOptions {
  /** As of RedisStreamsTransport. */
  readonly redis: RedisStreamsTransportOptions['redis'];
  /** Names of the streams to read, for example `outbox.event.order`. */
  readonly streams: readonly string[];
  /** Consumer group: each group gets every entry, and each entry goes to one of its consumers. Made when it is missing. */
  readonly group: string;
  /** Name within the group; default host, process and a random part. A name must not be used by two processes at once. */
  readonly consumer?: string;
  /** Where a group that is made now begins: `0` (default) with all that is there, `$` with what comes from now on. */
  readonly startAt?: '0' | '$';
  /** Entries in work at once; default 1, which keeps the order of a stream as long as the group has one consumer. */
  readonly concurrency?: number;
  /** Entries that nobody has accepted for so many ms are taken over from their consumer; default 60,000. */
  readonly takeOverAfterMs?: number;
}

export interface ResolvedRedisStreamsServerOptions {
  readonly createClient: () => Redis | Cluster;
  readonly streams: readonly string[];
  readonly group: string;
  readonly consumer: string;
  readonly startAt: '0' | '$';
  readonly concurrency: number;
  readonly takeOverAfterMs: number;
}

/** @throws ConfigurationError */
export function resolveRedisStreamsServerOptions(
  options: RedisStreamsServerOptions,
): ResolvedRedisStreamsServerOptions {
  const { streams, group, startAt = '0' } = options;
  if (!Array.isArray(streams) || streams.length === 0 || streams.some((one) => typeof one !== 'string' || one === '')) {
    throw new ConfigurationError('RedisStreamsServer: "streams" must be a list of at least one name.');
  }
  if (typeof group !== 'string' || group === '') {
    throw new ConfigurationError('RedisStreamsServer: "group" must be a name, for example that of the application.');
  }
  if (startAt !== '0' && startAt !== '$') {
    throw new ConfigurationError(`RedisStreamsServer: "startAt" is ${JSON.stringify(startAt)}; use '0' or '$'.`);
  }
  return {
    createClient: clientFactory('RedisStreamsServer', options.redis),
    streams,
    group,
    consumer: options.consumer ?? `${hostname()}-${process.pid}-${randomUUID().slice(0, 8)}`,
    startAt,
    concurrency: requireWhole('RedisStreamsServer', 'concurrency', options.concurrency ?? 1, { max: 1000 }),
    takeOverAfterMs: requireWhole('RedisStreamsServer', 'takeOverAfterMs', options.takeOverAfterMs ?? 60_000, {
      min: 100,
    }),
  };
}
