import { randomUUID } from 'node:crypto';
import { type ConsumeMessage, connect } from 'amqplib';
import { CloudEventDeserializer } from 'nestjs-transactional-outbox';
import { describe, expect, it } from 'vitest';
import { kafkaSource } from '../../libs/outbox/src/inbox/broker/kafka-source.js';
import { rabbitmqSource } from '../../libs/outbox/src/inbox/broker/rabbitmq-source.js';
import { InProcessHandlers } from '../../libs/outbox/src/inbox/in-process/in-process-handlers.js';
import { type ConsumedMessage, MessageServer, readParts } from '../../libs/outbox/src/transports/consuming/index.js';
import { orderPlaced } from '../integration/inbox-app.js';
import { rabbitmq } from '../support/brokers.js';
import { Arrivals } from '../transports/held-events.js';
import { startInboxMicroservice } from './inbox-service.js';

const DELAY_MS = 200;

it.skipIf(rabbitmq.mayLack)('RabbitMQ gets back the one message that failed, when its pause is over', async () => {
  const connection = await connect(rabbitmq.url);
  const channel = await connection.createChannel();
  const arrivals = new Arrivals<ConsumeMessage>();
  const { queue } = await channel.assertQueue(`test-${randomUUID()}`, { exclusive: true });
  await channel.consume(queue, (message) => message !== null && arrivals.add(message));
  for (const body of ['first', 'second']) channel.sendToQueue(queue, Buffer.from(body));
  const [first, second] = await arrivals.take(2);
  const contextOf = (message: ConsumeMessage | undefined): object => ({
    getMessage: () => message,
    getChannelRef: () => channel,
  });
  const failedAt = performance.now();
  await rabbitmqSource.deliverAgain?.(contextOf(second), DELAY_MS);
  const again = await arrivals.take(1);
  expect(performance.now() - failedAt).toBeGreaterThan(DELAY_MS - 20);
  channel.sendToQueue(queue, Buffer.from('third')); // behind what else came back
  again.push(...(await arrivals.take(1)));
  expect(again.map(({ content }) => content.toString())).toEqual(['second', 'third']);
  for (const message of [first, ...again]) await rabbitmqSource.accept?.(contextOf(message));
  await connection.close();
});

it('a partition of Kafka is put back and rests for as long as its message is to wait', async () => {
  const calls: string[] = [];
  const rested = new Promise<void>((resolve) => {
    const consumer = {
      seek: ({ offset }: { offset: string }) => calls.push(`seek ${offset}`),
      pause: () => calls.push('pause'),
      resume: () => {
        calls.push('resume');
        resolve();
      },
    };
    const context = {
      getMessage: () => ({ offset: '7' }),
      getTopic: () => 'orders',
      getPartition: () => 2,
      getConsumer: () => consumer,
    };
    void kafkaSource.deliverAgain?.(context, DELAY_MS);
  });
  const startedAt = performance.now();
  expect(calls).toEqual(['seek 7', 'pause']);
  await rested;
  expect(performance.now() - startedAt).toBeGreaterThan(DELAY_MS - 20);
  expect(calls).toEqual(['seek 7', 'pause', 'resume']);
});

it('a message of RabbitMQ that is no event comes to whoever parks it', () => {
  const deserializer = new CloudEventDeserializer();
  expect(deserializer.deserialize('no JSON at all')).toMatchObject({ pattern: 'unreadable' });
  expect(deserializer.deserialize({ amountCents: 1 }, { headers: {} })).toMatchObject({ pattern: 'unreadable' });
  expect(deserializer.deserialize({}, { headers: { cloudEvents_type: 'order.placed' } })).toMatchObject({
    pattern: 'order.placed',
  });
});

it('a handler in the process that was called around the inbox does not count as done', async () => {
  const method = { where: 'Shipping.onPlaced', controller: class {} };
  const handlers = {
    inProcess: [{ handler: { consumer: 'shipping', types: new Set(['order.placed']) }, method }],
    instanceOf: () => ({}),
  };
  const inProcess = new InProcessHandlers(handlers as never, { call: async () => undefined } as never);
  await expect(inProcess.handle('shipping', { type: 'order.placed', payload: {} } as never)).rejects.toThrow(
    /without its guard/,
  );
});

class UnacknowledgingServer extends MessageServer {
  asked = 0;

  listen = (callback: () => void): void => callback();
  close = (): void => undefined;
  unwrap = <T>(): T => undefined as T; // there is no client

  receive(body: string): Promise<void> {
    const message: ConsumedMessage = {
      source: 'a test',
      contentType: 'application/cloudevents+json',
      headers: {},
      body: Buffer.from(body),
    };
    return this.take(message, readParts(message, undefined, 'place'), {
      accept: async () => {
        this.asked += 1;
        throw new Error('the connection is lost');
      },
      deliverAgain: async () => undefined,
    });
  }
}

describe('a broker that does not hear the acknowledgement', () => {
  it('brings the event again, which is known then: it is applied once, and no failure', async () => {
    const strategy = new UnacknowledgingServer();
    const service = await startInboxMicroservice({ strategy });
    const { id, type, data } = orderPlaced();
    const event = { specversion: '1.0', source: '/orders', id, type, data };
    for (const _ of [1, 2]) await strategy.receive(JSON.stringify(event));
    expect([await service.effects('shipping'), await service.effects('inventory')]).toEqual([1, 1]);
    expect(strategy.asked).toBe(2);
    expect(await service.database.query('select 1 from processed_events_failed')).toEqual([]);
    expect(service.filtered).toEqual([]);
    await service.close();
  });
});
