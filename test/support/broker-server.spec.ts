import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { connect as connectNats } from '@nats-io/transport-node';
import { connect as connectAmqp } from 'amqplib';
import { Redis } from 'ioredis';
import { afterEach, expect, it } from 'vitest';
import type { BrokerServer } from './broker-server.js';
import { mayLackNatsServer, startNatsServer } from './nats-server.js';
import { mayLackRabbitmqServer, startRabbitmqServer } from './rabbitmq-server.js';
import { mayLackRedisServer, startRedisServer } from './redis-server.js';

const TIMEOUT_MS = 120_000;
let server: BrokerServer | undefined;

afterEach(() => server?.stop());

it.skipIf(mayLackRedisServer)('a Redis that is killed and starts again has what it had answered for', async () => {
  server = await startRedisServer();
  const { url, restart } = server;
  const append = (client: Redis) => client.xadd('stream', '*', 'a', '1');
  await using(new Redis(url), append);
  await restart();
  expect(await using(new Redis(url), (client) => client.xlen('stream'))).toBe(1);
});

it.skipIf(mayLackNatsServer)(
  'a NATS that is killed and starts again has what its stream had acknowledged',
  async () => {
    server = await startNatsServer();
    const { url, restart } = server;
    const before = await connectNats({ servers: url, reconnect: false });
    await (await jetstreamManager(before)).streams.add({ name: 'stream', subjects: ['a'], storage: 'file' });
    await jetstream(before).publish('a', 'one');
    await restart();
    const after = await connectNats({ servers: url });
    const { state } = await (await jetstreamManager(after)).streams.info('stream');
    await after.close();
    expect(state.messages).toBe(1);
  },
);

it.skipIf(mayLackRabbitmqServer)(
  'a RabbitMQ that is killed and starts again has what it had confirmed',
  { timeout: TIMEOUT_MS },
  async () => {
    const rabbitmq = await startRabbitmqServer();
    server = rabbitmq;
    const before = await connectAmqp(rabbitmq.url);
    before.on('error', () => undefined); // it is killed
    const channel = await before.createConfirmChannel();
    await channel.assertQueue('queue', { durable: true });
    channel.sendToQueue('queue', Buffer.from('one'), { persistent: true });
    await channel.waitForConfirms();
    await rabbitmq.restart();
    expect(await rabbitmq.ctl('list_queues', '--silent', 'name', 'messages')).toContain('queue\t1');
  },
);

async function using<T>(client: Redis, work: (client: Redis) => Promise<T>): Promise<T> {
  try {
    return await work(client);
  } finally {
    client.disconnect();
  }
}
