import { connect } from 'amqplib';
import { mayLackRabbitmqServer, startRabbitmqServer } from '../../support/rabbitmq-server.js';
import { describeOver } from './scene.js';

const PLACE = 'orders';

describeOver('RabbitMQ', {
  isSkipped: mayLackRabbitmqServer,
  keepsOrder: false,
  async open() {
    const server = await startRabbitmqServer();
    const connection = await connect(server.url);
    const channel = await connection.createChannel();
    await channel.assertExchange(PLACE, 'topic', { durable: true });
    await channel.assertQueue(PLACE, { durable: true });
    await channel.bindQueue(PLACE, PLACE, '#');
    await connection.close();
    return {
      choice: { kind: 'rabbitmq', url: server.url, place: PLACE },
      interrupt: () => server.restart(),
      close: () => server.stop(),
    };
  },
});
