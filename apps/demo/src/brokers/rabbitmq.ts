import { connect } from 'amqplib';
import type { Cleanup } from '../cleanup.js';
import { BrokerMissingError, type Carrier, hostOf, placesOf } from './broker.js';

/** The queues are bound before anybody sends: what no queue takes is not delivered. */
export async function openRabbitmq(prefix: string, cleanup: Cleanup): Promise<Carrier> {
  const url = process.env.RABBITMQ_URL || 'amqp://guest:guest@127.0.0.1:5672';
  const connection = await connect(url).catch((error: unknown) => {
    throw new BrokerMissingError(
      'RabbitMQ',
      hostOf(url),
      [
        'docker compose up -d rabbitmq',
        'apt-get install rabbitmq-server',
        'RABBITMQ_URL=amqp://user:password@host:5672',
      ],
      error,
    );
  });
  connection.on('error', () => undefined); // whoever uses the connection next is told
  await cleanup.add('the connection to RabbitMQ', () => connection.close());
  const channel = await connection.createChannel();
  await cleanup.add(`exchange and queues ${prefix} in RabbitMQ`, async () => {
    for (const queue of placesOf(prefix)) await channel.deleteQueue(queue);
    await channel.deleteExchange(prefix);
  });
  await channel.assertExchange(prefix, 'direct');
  for (const queue of placesOf(prefix)) {
    await channel.assertQueue(queue);
    await channel.bindQueue(queue, prefix, queue);
  }
  return { description: `RabbitMQ, at ${hostOf(url)}`, environment: { BROKER_URL: url } };
}
