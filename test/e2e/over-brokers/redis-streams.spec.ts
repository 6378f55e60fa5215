import { mayLackRedisServer, startRedisServer } from '../../support/redis-server.js';
import { describeOver } from './scene.js';

describeOver('Redis Streams', {
  isSkipped: mayLackRedisServer,
  keepsOrder: false,
  async open() {
    const server = await startRedisServer();
    return {
      choice: { kind: 'redis-streams', url: server.url, place: 'orders' },
      interrupt: () => server.restart(),
      close: () => server.stop(),
    };
  },
});
