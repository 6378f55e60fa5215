import { type BrokerServer, findBroker, startBrokerServer } from './broker-server.js';

const { program, mayLack } = findBroker('Redis', 'redis-server');

export const mayLackRedisServer = mayLack;

/** Has on its disk what it has answered for: what `appendfsync always` promises, and its default, `everysec`, does not. */
export function startRedisServer(): Promise<BrokerServer> {
  return startBrokerServer('redis', program, (port, directory) => ({
    args: ['--bind', '127.0.0.1', '--port', `${port}`, '--dir', directory, '--save', ''].concat(
      ...['--appendonly', 'yes', '--appendfsync', 'always'],
    ),
  }));
}
