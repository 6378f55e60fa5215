import { randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';
import { redis } from '../../support/brokers.js';
import { startTcpProxy } from '../../support/tcp-proxy.js';
import { cutConnections } from './cut-connections.js';
import { describeOver } from './scene.js';

describeOver('Redis Streams', {
  isSkipped: redis.mayLack,
  keepsOrder: false,
  async open() {
    const place = `test-${randomUUID()}`;
    const proxy = await startTcpProxy(redis.url);
    return {
      choice: { kind: 'redis-streams', url: proxy.through(redis.url), place },
      cut: () => cutConnections(proxy),
      async close() {
        await proxy.close();
        const client = new Redis(redis.url);
        await client.del(place);
        client.disconnect();
      },
    };
  },
});
