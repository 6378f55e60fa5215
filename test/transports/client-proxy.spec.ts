import { randomUUID } from 'node:crypto';
import { Controller, type INestMicroservice, Module, type Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import {
  type ClientOptions,
  type ClientProxy,
  ClientProxyFactory,
  EventPattern,
  MessagePattern,
  type MicroserviceOptions,
  Transport as NestTransport,
  Payload,
} from '@nestjs/microservices';
import { logLevel } from 'kafkajs';
import { ClientProxyTransport } from 'nestjs-transactional-outbox/client-proxy';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { findFreePort } from '../../libs/embedded-postgres/src/free-port.js';
import type { HeldEvent } from '../../libs/outbox/src/testing/transport-contract/index.js';
import { outgoingEvent, publishOne } from '../integration/transport-events.js';
import { nats, rabbitmq, redis } from '../support/brokers.js';
import { type KafkaCluster, mayLackKafka, startKafkaCluster } from '../support/kafka-cluster.js';
import { itKeepsTheContract } from './contract.js';
import { Arrivals, structuredEvent } from './held-events.js';

const arrivals = new Arrivals<HeldEvent>();

@Controller()
class Receiver {
  @EventPattern<string>('order.placed')
  onPlaced(@Payload() event: object): void {
    arrivals.add(structuredEvent(JSON.stringify(event)));
  }

  @MessagePattern('order.asked')
  onAsked(@Payload() event: { data?: { fails?: boolean } }): void {
    if (event.data?.fails) throw new Error('the handler failed');
    arrivals.add(structuredEvent(JSON.stringify(event)));
  }
}

@Module({ controllers: [Receiver] })
class ReceiverModule {}

describe('ClientProxyTransport', () => {
  let port: number;
  let service: INestMicroservice;
  const clients: ClientProxy[] = [];
  const clientTo = (options: ClientOptions): ClientProxy => {
    const client = ClientProxyFactory.create(options);
    clients.push(client);
    return client;
  };
  const tcp = (to: number): ClientProxy => clientTo({ transport: NestTransport.TCP, options: { port: to } });
  beforeAll(async () => {
    port = await findFreePort();
    service = await startReceiver(ReceiverModule, { transport: NestTransport.TCP, options: { port } });
  });
  afterEach(() => {
    for (const client of clients.splice(0)) client.close();
  });
  afterAll(() => service.close());

  itKeepsTheContract(
    {
      open: () => new ClientProxyTransport({ client: tcp(port) }),
      openUnreachable: () => new ClientProxyTransport({ client: tcp(1) }),
    },
    (count) => arrivals.take(count),
  );

  it('with "send" an event is delivered when its handler has answered, and not when it failed', async () => {
    const transport = new ClientProxyTransport({ client: tcp(port), method: 'send' });
    const event = outgoingEvent({ type: 'order.asked' });
    expect(await publishOne(transport, event)).toEqual({ kind: 'delivered' });
    expect((await arrivals.take(1)).map(({ id }) => id)).toEqual([event.envelope.id]);
    expect(await publishOne(transport, outgoingEvent({ type: 'order.asked', payload: { fails: true } }))).toMatchObject(
      {
        kind: 'retry',
      },
    );
    expect(await publishOne(transport, outgoingEvent({ type: 'nobody.listens' }))).toMatchObject({ kind: 'retry' });
    await transport.close();
  });

  it('goes on after the other side was away', async () => {
    const transport = new ClientProxyTransport({ client: tcp(port), method: 'send' });
    const event = outgoingEvent({ type: 'order.asked' });
    expect(await publishOne(transport, event)).toEqual({ kind: 'delivered' });
    await service.close();
    await expect.poll(async () => (await publishOne(transport, event)).kind).toBe('unreachable');
    service = await startReceiver(ReceiverModule, { transport: NestTransport.TCP, options: { port } });
    await expect.poll(async () => (await publishOne(transport, event)).kind).toBe('delivered');
    await arrivals.take(1);
    await transport.close();
  });

  describe('what "emit" proves where nobody listens: nothing, so that it is called delivered', () => {
    const name = `test-${randomUUID()}`;
    it.skipIf(redis.mayLack)('with Redis, which tells whoever subscribes at the moment', () =>
      expectProvesNothing({ transport: NestTransport.REDIS, options: { host: new URL(redis.url).hostname } }),
    );
    it.skipIf(nats.mayLack)('with NATS, which tells whoever subscribes at the moment', () =>
      expectProvesNothing({ transport: NestTransport.NATS, options: { servers: [nats.url] } }),
    );
    it.skipIf(rabbitmq.mayLack)('with RabbitMQ, where nobody reads the queue; it keeps the message', () =>
      expectProvesNothing({
        transport: NestTransport.RMQ,
        options: {
          urls: [rabbitmq.url],
          queue: name,
          queueOptions: { durable: false, autoDelete: true, expires: 5000 },
        },
      }),
    );
  });

  describe.skipIf(mayLackKafka)('what "emit" proves with Kafka', () => {
    const kafkaClient = ({ brokers }: KafkaCluster): ClientProxy => {
      const client = { brokers, retry: { retries: 0 }, connectionTimeout: 1000, logLevel: logLevel.NOTHING };
      return clientTo({ transport: NestTransport.KAFKA, options: { client, producerOnlyMode: true } });
    };

    it('that the broker has acknowledged the event, which is there for whoever comes later', async () => {
      const kafka = await startKafkaCluster();
      const transport = new ClientProxyTransport({ client: kafkaClient(kafka) });
      const event = outgoingEvent();
      expect(await publishOne(transport, event)).toEqual({ kind: 'delivered' });
      const receiver = await startReceiver(ReceiverModule, {
        transport: NestTransport.KAFKA,
        options: {
          client: { brokers: kafka.brokers, logLevel: logLevel.NOTHING },
          consumer: { groupId: 'shipping', maxWaitTimeInMs: 50 },
          subscribe: { fromBeginning: true },
        },
      });
      expect((await arrivals.take(1)).map(({ id }) => id)).toEqual([event.envelope.id]);
      await receiver.close();
      await transport.close();
      await kafka.close();
    });

    it('and an event that no broker acknowledges is not called delivered', async () => {
      const kafka = await startKafkaCluster();
      const transport = new ClientProxyTransport({ client: kafkaClient(kafka) });
      expect(await publishOne(transport, outgoingEvent())).toEqual({ kind: 'delivered' });
      await kafka.close();
      expect(await publishOne(transport, outgoingEvent())).not.toMatchObject({ kind: 'delivered' });
      await transport.close();
    });
  });

  async function expectProvesNothing(options: ClientOptions): Promise<void> {
    const transport = new ClientProxyTransport({ client: clientTo(options) });
    expect(await publishOne(transport, outgoingEvent({ type: `nobody-${randomUUID()}` }))).toEqual({
      kind: 'delivered',
    });
    await transport.close();
  }
});

describe('the options of ClientProxyTransport', () => {
  it.each([
    [{}, /"client" is no ClientProxy/],
    [{ client: { connect: () => undefined, emit: () => undefined }, method: 'post' }, /"method" is "post"/],
  ])('%j is refused', (options, message) => {
    expect(() => new ClientProxyTransport(options as never)).toThrow(message);
  });
});

async function startReceiver(module: Type, options: MicroserviceOptions): Promise<INestMicroservice> {
  const service = await NestFactory.createMicroservice<MicroserviceOptions>(module, { ...options, logger: false });
  await service.listen();
  return service;
}
