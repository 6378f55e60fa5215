import { type BrokerServer, findBroker, startBrokerServer } from './broker-server.js';

const { program, mayLack } = findBroker('NATS', 'nats-server');

export const mayLackNatsServer = mayLack;

/** JetStream writes a message into its file before it acknowledges it, so streams in files survive that it is killed. */
export function startNatsServer(): Promise<BrokerServer> {
  return startBrokerServer('nats', program, (port, directory) => ({
    args: ['-a', '127.0.0.1', '-p', `${port}`, '-js', '-sd', directory],
  }));
}
