import { type Admin, Kafka, logLevel } from 'kafkajs';
import type { Cleanup } from '../cleanup.js';
import { BrokerMissingError, type Carrier, placesOf } from './broker.js';
import { startMockCluster } from './kafka-mock-cluster.js';

const HOW_TO_START = [
  'docker compose up -d kafka, then KAFKA_BROKERS=127.0.0.1:9092',
  'KAFKA_BROKERS=host:port,host:port',
];

/** The cluster that KAFKA_BROKERS names, or one in the memory of kcat, which ends with the demo. */
export async function openKafka(prefix: string, cleanup: Cleanup): Promise<Carrier> {
  const given = process.env.KAFKA_BROKERS;
  return given ? openCluster(given, prefix, cleanup) : openMockCluster(prefix, cleanup);
}

async function openCluster(brokers: string, prefix: string, cleanup: Cleanup): Promise<Carrier> {
  const admin = adminOf(brokers);
  await admin.connect().catch((error: unknown) => {
    throw new BrokerMissingError('Kafka', brokers, HOW_TO_START, error);
  });
  await cleanup.add('the connection to Kafka', () => admin.disconnect());
  await admin.createTopics({ topics: placesOf(prefix).map((topic) => ({ topic })), waitForLeaders: true });
  await cleanup.add(`the topics ${prefix}-* in Kafka`, () => admin.deleteTopics({ topics: placesOf(prefix) }));
  // Nest puts `-server` behind the name that the consumer gives.
  await cleanup.add(`the group ${prefix} in Kafka`, async () => void (await admin.deleteGroups([`${prefix}-server`])));
  return { description: `Kafka, at ${brokers}`, environment: { BROKER_URL: brokers } };
}

async function openMockCluster(prefix: string, cleanup: Cleanup): Promise<Carrier> {
  const brokers = await startMockCluster(cleanup, HOW_TO_START);
  const admin = adminOf(brokers);
  await admin.connect();
  await admin.fetchTopicMetadata({ topics: placesOf(prefix) }); // makes them
  await admin.disconnect();
  return {
    description: `Kafka, the mock cluster of librdkafka, started with kcat at ${brokers}`,
    // It names a controller that it does not have, whom KafkaJS would ask for the ids of idempotent producers.
    environment: { BROKER_URL: brokers, KAFKA_IDEMPOTENCE: 'off' },
  };
}

function adminOf(brokers: string): Admin {
  const client = new Kafka({ brokers: brokers.split(','), logLevel: logLevel.NOTHING, retry: { retries: 1 } });
  return client.admin();
}
