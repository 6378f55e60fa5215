import { connect } from 'node:net';
import { type MicroserviceOptions, Transport as NestTransport } from '@nestjs/microservices';
import { Kafka, type KafkaConfig, logLevel } from 'kafkajs';
import { CloudEventDeserializer, type Transport } from 'nestjs-transactional-outbox';
import { KafkaTransport } from 'nestjs-transactional-outbox/kafka';
import { NatsTransport } from 'nestjs-transactional-outbox/nats';
import { JetStreamServer } from 'nestjs-transactional-outbox/nats/server';
import { RabbitmqTransport } from 'nestjs-transactional-outbox/rabbitmq';
import { RedisStreamsTransport } from 'nestjs-transactional-outbox/redis-streams';
import { RedisStreamsServer } from 'nestjs-transactional-outbox/redis-streams/server';
import { SqsTransport } from 'nestjs-transactional-outbox/sqs';
import { SqsServer } from 'nestjs-transactional-outbox/sqs/server';

/** One broker for producers and consumers in processes of their own; JSON in the variable BROKER. */
export interface BrokerChoice {
  readonly kind: 'redis-streams' | 'rabbitmq' | 'kafka' | 'jetstream' | 'sqs';
  readonly url: string;
  /** Stream, exchange and queue, stream and subject, or address of the queue; with Kafka the topic is that of orders. */
  readonly place: string;
}

export const ACCOUNT = { region: 'eu-central-1', credentials: { accessKeyId: 'test', secretAccessKey: 'test' } };

/** What a consumer that died had in its hands comes to another one after so long, where the broker asks. */
const TAKE_OVER_MS = 2000;
const GROUP = 'shipping';

export function transportOf({ kind, url, place }: BrokerChoice): Transport {
  switch (kind) {
    case 'redis-streams':
      return new RedisStreamsTransport({ redis: url, stream: () => place });
    case 'rabbitmq':
      return new RabbitmqTransport({ url, exchange: place });
    case 'kafka': {
      // As long as a publish may take; a producer that is given up stays connected until its request is over.
      const client = new Kafka({ ...kafkaThrough(url), requestTimeout: 1500 });
      // The mock cluster knows no controller, which KafkaJS asks for the ids of idempotent producers.
      return new KafkaTransport({ kafka: () => client.producer({ retry: { retries: 1 } }) });
    }
    case 'jetstream':
      return new NatsTransport({ nats: url, subject: () => `${place}.order` });
    case 'sqs':
      return new SqsTransport({ queueUrl: place, sqs: { ...ACCOUNT, endpoint: url, useQueueUrlAsEndpoint: false } });
  }
}

export function serverOf({ kind, url, place }: BrokerChoice): MicroserviceOptions {
  switch (kind) {
    case 'redis-streams':
      return {
        strategy: new RedisStreamsServer({
          redis: url,
          streams: [place],
          group: GROUP,
          concurrency: 10,
          takeOverAfterMs: TAKE_OVER_MS,
        }),
      };
    case 'rabbitmq':
      return {
        transport: NestTransport.RMQ,
        options: {
          urls: [url],
          queue: place,
          queueOptions: { durable: true },
          noAck: false,
          prefetchCount: 10,
          socketOptions: { reconnectTimeInSeconds: 1 },
          deserializer: new CloudEventDeserializer(),
        },
      };
    case 'kafka':
      return {
        transport: NestTransport.KAFKA,
        options: {
          client: kafkaThrough(url),
          consumer: {
            groupId: GROUP,
            maxWaitTimeInMs: 50,
            sessionTimeout: 6000,
            heartbeatInterval: 500,
            rebalanceTimeout: 3000,
          },
          subscribe: { fromBeginning: true },
          run: { autoCommit: false },
        },
      };
    case 'jetstream':
      return {
        strategy: new JetStreamServer({
          nats: url,
          stream: place,
          durable: GROUP,
          concurrency: 10,
          ackWaitMs: TAKE_OVER_MS,
        }),
      };
    case 'sqs':
      return {
        strategy: new SqsServer({
          queueUrl: place,
          sqs: { ...ACCOUNT, endpoint: url, useQueueUrlAsEndpoint: false },
          visibilitySeconds: TAKE_OVER_MS / 1000,
          waitSeconds: 1,
        }),
      };
  }
}

/** Brokers tell their clients where else to connect; whatever that is, they connect to this address. */
function kafkaThrough(url: string): KafkaConfig {
  const { hostname, port, host } = new URL(url);
  return {
    brokers: [host],
    logLevel: logLevel.NOTHING,
    socketFactory: ({ onConnect }) => connect({ host: hostname, port: Number(port) }, onConnect),
  };
}
