import { randomUUID } from 'node:crypto';
import { type Channel, connect, type Options } from 'amqplib';
import { rabbitmq } from './brokers.js';

/** An exchange and a queue of a test's own, with one name; the queue takes `order.*`. */
export interface RabbitmqQueue {
  readonly name: string;
  readonly channel: Channel;
  /** Messages that nobody has been given. */
  waiting(): Promise<number>;
  close(): Promise<void>;
}

export async function openRabbitmqQueue(options: Options.AssertQueue = {}): Promise<RabbitmqQueue> {
  const name = `test-${randomUUID()}`;
  const connection = await connect(rabbitmq.url);
  const channel = await connection.createChannel();
  await channel.assertExchange(name, 'topic', { durable: false });
  await channel.assertQueue(name, { durable: false, ...options });
  await channel.bindQueue(name, name, 'order.*');
  return {
    name,
    channel,
    waiting: async () => (await channel.checkQueue(name)).messageCount,
    async close() {
      await channel.deleteQueue(name);
      await channel.deleteExchange(name);
      await connection.close();
    },
  };
}
