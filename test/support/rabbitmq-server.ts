import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { promisify } from 'node:util';
import { findFreePort } from '../../libs/embedded-postgres/src/free-port.js';
import { type BrokerServer, findBroker, startBrokerServer, startServer } from './broker-server.js';
import { findProgram } from './find-program.js';

// The scripts of the package's own folder: those on the path switch the user.
const FOLDER = '/usr/lib/rabbitmq/bin';
const { program, mayLack } = findBroker('RabbitMQ', 'rabbitmq-server', FOLDER);

export const mayLackRabbitmqServer = mayLack;

export interface RabbitmqServer extends BrokerServer {
  /** Runs `rabbitmqctl` for it. @returns what it writes. */
  ctl(...args: string[]): Promise<string>;
}

/** A node of its own, with a port mapper of its own, which the node would start and leave behind. */
export async function startRabbitmqServer(): Promise<RabbitmqServer> {
  const mapperPort = String(await findFreePort());
  const mapper = startServer(findProgram('epmd') ?? 'epmd', ['-port', mapperPort, '-address', '127.0.0.1']);
  const distributionPort = String(await findFreePort());
  const node = `test-${randomUUID()}@localhost`;
  let env: Record<string, string> = {};
  const server = await startBrokerServer('amqp', program, (port, directory) => {
    env = {
      HOME: directory,
      ERL_EPMD_PORT: mapperPort,
      RABBITMQ_NODENAME: node,
      RABBITMQ_NODE_IP_ADDRESS: '127.0.0.1',
      RABBITMQ_NODE_PORT: `${port}`,
      RABBITMQ_DIST_PORT: distributionPort,
      RABBITMQ_MNESIA_BASE: `${directory}/mnesia`,
      RABBITMQ_LOG_BASE: directory,
      RABBITMQ_CONFIG_FILE: `${directory}/none`,
      RABBITMQ_ENABLED_PLUGINS_FILE: `${directory}/plugins`,
    };
    return { args: [], env };
  });
  return {
    ...server,
    async ctl(...args) {
      const ctl = findProgram('rabbitmqctl', FOLDER) ?? 'rabbitmqctl';
      const { stdout } = await promisify(execFile)(ctl, ['-n', node, ...args], { env: { ...process.env, ...env } });
      return stdout;
    },
    async stop() {
      await server.stop();
      await mapper.kill('SIGTERM');
    },
  };
}
