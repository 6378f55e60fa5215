import { randomUUID } from 'node:crypto';
import { Transport } from '@nestjs/microservices';
import { type Channel, type ChannelModel, connect } from 'amqplib';
import { CloudEventDeserializer } from 'nestjs-transactional-outbox';
import { RabbitmqTransport } from 'nestjs-transactional-outbox/rabbitmq';
import { publishOne } from '../integration/transport-events.js';
import { rabbitmq } from '../support/brokers.js';
import { describeInboxOver } from './inbox-over-brokers.js';

const name = `test-${randomUUID()}`;
let connection: ChannelModel;
let channel: Channel;
let transport: RabbitmqTransport;

describeInboxOver(
  'RabbitMQ',
  {
    redelivers: true,
    async open() {
      connection = await connect(rabbitmq.url);
      channel = await connection.createChannel();
      await channel.assertExchange(name, 'topic', { durable: false });
      await channel.assertQueue(name, { durable: false });
      await channel.bindQueue(name, name, 'order.*');
      transport = new RabbitmqTransport({ url: rabbitmq.url, exchange: name });
      return {
        transport: Transport.RMQ,
        options: {
          urls: [rabbitmq.url],
          queue: name,
          queueOptions: { durable: false },
          noAck: false,
          prefetchCount: 10,
          deserializer: new CloudEventDeserializer(),
        },
      };
    },
    async publish(event) {
      const outcome = await publishOne(transport, event);
      if (outcome.kind !== 'delivered') throw new Error(JSON.stringify(outcome));
    },
    async publishRaw(body) {
      channel.sendToQueue(name, body);
    },
    async unaccepted() {
      // What waits is counted here; what is delivered and not accepted keeps the queue from being deleted while empty.
      return (await channel.checkQueue(name)).messageCount;
    },
    async close() {
      await transport.close();
      await channel.deleteQueue(name);
      await channel.deleteExchange(name);
      await connection.close();
    },
  },
  rabbitmq.mayLack,
);
