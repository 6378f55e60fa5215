import { Kafka, logLevel } from 'kafkajs';
import { mayLackKafka, startKafkaCluster } from '../../support/kafka-cluster.js';
import { describeOver } from './scene.js';

const TOPIC = 'outbox.event.order';

describeOver('Kafka', {
  isSkipped: mayLackKafka,
  keepsOrder: true,
  async open() {
    const cluster = await startKafkaCluster();
    const admin = new Kafka({ brokers: cluster.brokers, logLevel: logLevel.NOTHING }).admin();
    await admin.connect();
    await admin.fetchTopicMetadata({ topics: [TOPIC, 'order.step'] }); // makes them
    await admin.disconnect();
    // Its clients connect to the address that the cluster tells them, so that nothing can come between.
    return {
      choice: { kind: 'kafka', url: cluster.brokers.join(','), place: TOPIC },
      close: () => cluster.close(),
    };
  },
});
