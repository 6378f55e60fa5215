import { Transport } from '@nestjs/microservices';
import { type Admin, Kafka, logLevel, type Producer } from 'kafkajs';
import { KafkaTransport } from 'nestjs-transactional-outbox/kafka';
import { publishOne } from '../integration/transport-events.js';
import { type KafkaCluster, mayLackKafka, startKafkaCluster } from '../support/kafka-cluster.js';
import { describeInboxOver } from './inbox-over-brokers.js';

const TOPIC = 'outbox.event.order';
const TOPICS = [TOPIC, 'order.placed', 'unreadable', 'order.asked', 'order.asked.reply'];
let cluster: KafkaCluster;
let admin: Admin;
let producer: Producer;
let transport: KafkaTransport;

describeInboxOver(
  'Kafka',
  {
    redelivers: true,
    async open() {
      cluster = await startKafkaCluster();
      const kafka = new Kafka({ brokers: cluster.brokers, logLevel: logLevel.NOTHING });
      admin = kafka.admin();
      producer = kafka.producer();
      await Promise.all([admin.connect(), producer.connect()]);
      await admin.fetchTopicMetadata({ topics: TOPICS }); // makes them
      transport = new KafkaTransport({ kafka: { brokers: cluster.brokers } });
      return {
        transport: Transport.KAFKA,
        options: {
          client: { brokers: cluster.brokers, logLevel: logLevel.NOTHING },
          consumer: { groupId: 'shipping', maxWaitTimeInMs: 50 },
          subscribe: { fromBeginning: true },
          run: { autoCommit: false },
        },
      };
    },
    async publish(event) {
      const outcome = await publishOne(transport, event);
      if (outcome.kind !== 'delivered') throw new Error(JSON.stringify(outcome));
    },
    async publishRaw(body) {
      await producer.send({ topic: TOPIC, messages: [{ value: body }] });
    },
    async unaccepted() {
      const [committed] = await admin.fetchOffsets({ groupId: 'shipping-server', topics: [TOPIC] });
      const written = await admin.fetchTopicOffsets(TOPIC);
      return written.reduce((sum, { partition, high }) => {
        const offset = committed?.partitions.find((one) => one.partition === partition)?.offset ?? '-1';
        return sum + Number(high) - Math.max(0, Number(offset));
      }, 0);
    },
    async close() {
      await transport.close();
      await Promise.all([admin.disconnect(), producer.disconnect()]);
      await cluster.close();
    },
  },
  mayLackKafka,
);
