import { Kafka } from 'kafkajs';
import type { Transport } from 'nestjs-transactional-outbox';
import { KafkaTransport } from 'nestjs-transactional-outbox/kafka';
import { brokerUrlOf } from 'sample-support';
import type { Environment } from '../environment.js';
import { type Destination, placeOf, SOURCE } from './destination.js';

export function transportTo(destination: Destination, environment: Environment): Transport {
  const client = { brokers: brokerUrlOf(environment).split(','), clientId: 'orders' };
  const topic = placeOf(environment, destination);
  return new KafkaTransport({
    kafka: environment.KAFKA_IDEMPOTENCE === 'on' ? client : () => new Kafka(client).producer(),
    topic: () => topic,
    source: SOURCE,
  });
}
