import { randomUUID } from 'node:crypto';
import { CreateQueueCommand, SQSClient } from '@aws-sdk/client-sqs';
import { jetstreamManager } from '@nats-io/jetstream';
import { connect as connectNats } from '@nats-io/transport-node';
import { connect as connectAmqp } from 'amqplib';
import { startFauxqs } from 'fauxqs';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Transport } from '../../libs/outbox/src/transports/index.js';
import { outgoingEvent, publishOne } from '../integration/transport-events.js';
import { ACCOUNT, type BrokerChoice, transportOf } from '../processes/broker-choice.js';
import { nats, rabbitmq, redis } from '../support/brokers.js';
import { mayLackKafka, startKafkaCluster } from '../support/kafka-cluster.js';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.js';

/** All connections, whatever they began with. */
const ANY = /^/;
const TIMEOUT_MS = 300;
const PROMPT_MS = 500;

interface Place {
  /** Address of the broker. */
  readonly url: string;
  /** What of the choice is not the address. */
  readonly rest: Pick<BrokerChoice, 'kind' | 'place'>;
  close(): Promise<void>;
}

const name = `test-${randomUUID()}`;

const BROKERS: readonly { kind: string; isSkipped: boolean; open(): Promise<Place> }[] = [
  {
    kind: 'RedisStreamsTransport',
    isSkipped: redis.mayLack,
    async open() {
      return {
        url: redis.url,
        rest: { kind: 'redis-streams', place: name },
        async close() {
          const client = new Redis(redis.url);
          await client.del(name);
          client.disconnect();
        },
      };
    },
  },
  {
    kind: 'RabbitmqTransport',
    isSkipped: rabbitmq.mayLack,
    async open() {
      const connection = await connectAmqp(rabbitmq.url);
      const channel = await connection.createChannel();
      await channel.assertExchange(name, 'topic', { durable: false });
      await channel.assertQueue(name, { durable: false });
      await channel.bindQueue(name, name, '#');
      return {
        url: rabbitmq.url,
        rest: { kind: 'rabbitmq', place: name },
        async close() {
          await channel.deleteQueue(name);
          await channel.deleteExchange(name);
          await connection.close();
        },
      };
    },
  },
  {
    kind: 'NatsTransport',
    isSkipped: nats.mayLack,
    async open() {
      const connection = await connectNats({ servers: nats.url });
      const manager = await jetstreamManager(connection);
      await manager.streams.add({ name, subjects: [`${name}.>`], storage: 'memory' });
      return {
        url: nats.url,
        rest: { kind: 'jetstream', place: name },
        async close() {
          await manager.streams.delete(name);
          await connection.close();
        },
      };
    },
  },
  {
    kind: 'KafkaTransport',
    isSkipped: mayLackKafka,
    async open() {
      const cluster = await startKafkaCluster();
      return {
        url: `tcp://${cluster.brokers[0]}`,
        rest: { kind: 'kafka', place: 'outbox.event.order' },
        close: () => cluster.close(),
      };
    },
  },
  {
    kind: 'SqsTransport',
    isSkipped: false,
    async open() {
      const server = await startFauxqs({ port: 0, host: 'localhost', logger: false });
      const url = `http://localhost:${server.port}`;
      const client = new SQSClient({ ...ACCOUNT, endpoint: url });
      const { QueueUrl: place = '' } = await client.send(new CreateQueueCommand({ QueueName: 'orders' }));
      client.destroy();
      return { url, rest: { kind: 'sqs', place }, close: () => server.stop() };
    },
  },
];

for (const { kind, isSkipped, open } of BROKERS) {
  describe.skipIf(isSkipped)(`the connections of ${kind}`, () => {
    let place: Place;
    let proxy: TcpProxy;
    beforeAll(async () => {
      place = await open();
      proxy = await startTcpProxy(place.url);
    });
    afterAll(async () => {
      await proxy.close();
      await place.close();
    });

    /** Has delivered an event, so that it is connected. */
    const openTransport = async (): Promise<Transport> => {
      const transport = transportOf({ ...place.rest, url: proxy.through(place.url) });
      await expect.poll(async () => (await publishOne(transport)).kind, { timeout: 10_000 }).toBe('delivered');
      return transport;
    };

    it('none is left when it is closed', async () => {
      const transport = await openTransport();
      expect(proxy.open(ANY)).toBeGreaterThan(0);
      await transport.close?.();
      await expect.poll(() => proxy.open(ANY)).toBe(0);
    });

    it('on one that answers nothing any more, it comes back when its time is over, and goes on over another', async () => {
      const transport = await openTransport();
      proxy.swallow(ANY);
      const startedAt = performance.now();
      const outcome = await publishOne(transport, outgoingEvent(), AbortSignal.timeout(TIMEOUT_MS));
      expect(performance.now() - startedAt).toBeLessThan(TIMEOUT_MS + PROMPT_MS);
      expect(outcome.kind, 'the broker may have the event').toBe('retry');
      const again = () => publishOne(transport, outgoingEvent(), AbortSignal.timeout(2000));
      await expect.poll(async () => (await again()).kind, { timeout: 10_000 }).toBe('delivered');
      await transport.close?.();
      await expect.poll(() => proxy.open(ANY), { timeout: 10_000 }).toBe(0);
    });

    it('on one that answers nothing any more it can be closed', async () => {
      const transport = await openTransport();
      proxy.swallow(ANY);
      const closingAt = performance.now();
      await transport.close?.();
      expect(performance.now() - closingAt).toBeLessThan(5000);
      await expect.poll(() => proxy.open(ANY), { timeout: 10_000 }).toBe(0);
    });

    it('on one that ends before the answer, the event is tried again: the broker may have it', async () => {
      const transport = await openTransport();
      proxy.swallow(ANY);
      const publishing = publishOne(transport, outgoingEvent(), AbortSignal.timeout(10_000));
      proxy.refuse(ANY);
      expect((await publishing).kind).toBe('retry');
      proxy.refuse(undefined);
      await expect.poll(async () => (await publishOne(transport)).kind, { timeout: 10_000 }).toBe('delivered');
      await transport.close?.();
    });
  });
}
