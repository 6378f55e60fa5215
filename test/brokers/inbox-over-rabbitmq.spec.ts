import { Transport } from '@nestjs/microservices';
import { CloudEventDeserializer } from 'nestjs-transactional-outbox';
import { RabbitmqTransport } from 'nestjs-transactional-outbox/rabbitmq';
import { publishOne } from '../integration/transport-events.js';
import { rabbitmq } from '../support/brokers.js';
import { openRabbitmqQueue, type RabbitmqQueue } from '../support/rabbitmq-queue.js';
import { describeInboxOver } from './inbox-over-brokers.js';

let queue: RabbitmqQueue;
let transport: RabbitmqTransport;

describeInboxOver(
  'RabbitMQ',
  {
    redelivers: true,
    async open() {
      queue = await openRabbitmqQueue();
      transport = new RabbitmqTransport({ url: rabbitmq.url, exchange: queue.name });
      return {
        transport: Transport.RMQ,
        options: {
          urls: [rabbitmq.url],
          queue: queue.name,
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
      queue.channel.sendToQueue(queue.name, body);
    },
    // What waits is counted here; what is delivered and not accepted keeps the queue from being deleted while empty.
    unaccepted: () => queue.waiting(),
    async close() {
      await transport.close();
      await queue.close();
    },
  },
  rabbitmq.mayLack,
);
