import { Redis } from 'ioredis';
import type { Cleanup } from '../cleanup.js';
import { BrokerMissingError, type Carrier, hostOf, placesOf } from './broker.js';

/** The streams and groups are made by who uses them first; they have to be removed. */
export async function openRedis(prefix: string, cleanup: Cleanup): Promise<Carrier> {
  const url = process.env.REDIS_URL || 'redis://127.0.0.1:6379';
  const client = new Redis(url, { lazyConnect: true, retryStrategy: () => null, maxRetriesPerRequest: 0 });
  // What is wrong is told by connect(), except for the code, which comes only here.
  let problem: unknown;
  client.on('error', (error) => {
    problem = error;
  });
  try {
    await client.connect();
    await client.ping();
  } catch (error) {
    client.disconnect();
    throw new BrokerMissingError(
      'Redis',
      hostOf(url),
      ['docker compose up -d redis', 'apt-get install redis-server', 'REDIS_URL=redis://host:6379'],
      problem ?? error,
    );
  }
  await cleanup.add(`the streams ${prefix}-* in Redis`, async () => {
    await client.del(...placesOf(prefix));
    client.disconnect();
  });
  return { description: `Redis Streams, at ${hostOf(url)}`, environment: { BROKER_URL: url } };
}
