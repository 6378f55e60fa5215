import { Kafka, logLevel } from 'kafkajs';
import { mayLackKafka, startKafkaCluster } from '../../support/kafka-cluster.js';
import { startTcpProxy } from '../../support/tcp-proxy.js';
import { cutConnections } from './cut-connections.js';
import { describeOver } from './scene.js';

const TOPIC = 'outbox.event.order';

describeOver('Kafka', {
  isSkipped: mayLackKafka,
  keepsOrder: true,
  async open() {
    const cluster = await startKafkaCluster();
    const [broker = ''] = cluster.brokers;
    const admin = new Kafka({ brokers: [broker], logLevel: logLevel.NOTHING }).admin();
    await admin.connect();
    await admin.fetchTopicMetadata({ topics: [TOPIC, 'order.step'] }); // makes them
    await admin.disconnect();
    const proxy = await startTcpProxy(`tcp://${broker}`);
    return {
      choice: { kind: 'kafka', url: proxy.through(`tcp://${broker}`), place: TOPIC },
      // The cluster has all that it holds in memory, and would start again without it.
      interrupt: () => cutConnections(proxy),
      async close() {
        await proxy.close();
        await cluster.close();
      },
    };
  },
});
