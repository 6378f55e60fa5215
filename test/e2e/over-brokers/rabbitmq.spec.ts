import { randomUUID } from 'node:crypto';
import { connect } from 'amqplib';
import { rabbitmq } from '../../support/brokers.js';
import { startTcpProxy } from '../../support/tcp-proxy.js';
import { cutConnections } from './cut-connections.js';
import { describeOver } from './scene.js';

describeOver('RabbitMQ', {
  isSkipped: rabbitmq.mayLack,
  keepsOrder: false,
  async open() {
    const place = `test-${randomUUID()}`;
    const connection = await connect(rabbitmq.url);
    const channel = await connection.createChannel();
    await channel.assertExchange(place, 'topic', { durable: false });
    await channel.assertQueue(place, { durable: false });
    await channel.bindQueue(place, place, '#');
    const proxy = await startTcpProxy(rabbitmq.url);
    return {
      choice: { kind: 'rabbitmq', url: proxy.through(rabbitmq.url), place },
      cut: () => cutConnections(proxy),
      async close() {
        await proxy.close();
        await channel.deleteQueue(place);
        await channel.deleteExchange(place);
        await connection.close();
      },
    };
  },
});
