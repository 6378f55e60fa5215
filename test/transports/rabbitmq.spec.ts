import { randomUUID } from 'node:crypto';
import { type Channel, type ChannelModel, type ConsumeMessage, connect } from 'amqplib';
import { RabbitmqTransport, type RabbitmqTransportOptions } from 'nestjs-transactional-outbox/rabbitmq';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { HeldEvent } from '../../libs/outbox/src/testing/transport-contract/index.js';
import { outgoingEvent, publishOne } from '../integration/transport-events.js';
import { rabbitmq } from '../support/brokers.js';
import { startTcpProxy } from '../support/tcp-proxy.js';
import { itGoesOnAfterACut, itKeepsTheContract } from './contract.js';
import { Arrivals, binaryEvent } from './held-events.js';

const NOWHERE = 'amqp://guest:guest@127.0.0.1:1';

describe.skipIf(rabbitmq.mayLack)('RabbitmqTransport', () => {
  const exchange = `test-${randomUUID()}`;
  const options: RabbitmqTransportOptions = { url: rabbitmq.url, exchange };
  const arrivals = new Arrivals<HeldEvent>();
  let connection: ChannelModel;
  let channel: Channel;
  beforeAll(async () => {
    connection = await connect(rabbitmq.url);
    channel = await connection.createChannel();
    await channel.assertExchange(exchange, 'topic', { durable: false });
    const { queue } = await channel.assertQueue('', { exclusive: true });
    await channel.bindQueue(queue, exchange, 'order.*');
    await channel.consume(queue, (message) => message !== null && arrivals.add(toHeldEvent(message)), { noAck: true });
  });
  afterAll(async () => {
    await channel.deleteExchange(exchange);
    await connection.close();
  });

  itKeepsTheContract(
    {
      open: () => new RabbitmqTransport(options),
      openUnreachable: () => new RabbitmqTransport({ url: NOWHERE }),
      misroute: (event) => ({ ...event, envelope: { ...event.envelope, type: 'nobody.listens' } }),
      spoil: (event) => ({ ...event, envelope: { ...event.envelope, type: `order.${'€'.repeat(85)}` } }),
    },
    (count) => arrivals.take(count),
  );

  it('an unroutable event can be dead at once', async () => {
    const transport = new RabbitmqTransport({ ...options, unroutable: 'dead' });
    const outcome = await publishOne(transport, outgoingEvent({ type: 'nobody.listens' }));
    await transport.close();
    expect(outcome).toMatchObject({ kind: 'dead', error: expect.stringContaining('NO_ROUTE') });
  });

  it('a full queue that rejects what comes is not delivered to', async () => {
    const { queue } = await channel.assertQueue('', {
      exclusive: true,
      arguments: { 'x-max-length': 1, 'x-overflow': 'reject-publish' },
    });
    await channel.bindQueue(queue, exchange, 'full');
    const transport = new RabbitmqTransport(options);
    const batch = [1, 2, 3].map(() => outgoingEvent({ type: 'full' }));
    const outcomes = await transport.publish(batch, AbortSignal.timeout(10_000));
    await transport.close();
    expect(outcomes.map(({ kind }) => kind)).toEqual(['delivered', 'retry', 'retry']);
    expect(outcomes[2]).toMatchObject({ error: expect.stringContaining('full') });
  });

  it('an exchange that is not there makes the destination unreachable, until somebody makes it', async () => {
    const missing = `${exchange}-later`;
    const transport = new RabbitmqTransport({ ...options, exchange: missing });
    expect(await publishOne(transport)).toMatchObject({ kind: 'unreachable', error: expect.stringContaining(missing) });
    await channel.assertExchange(missing, 'fanout', { durable: false });
    const { queue } = await channel.assertQueue('', { exclusive: true });
    await channel.bindQueue(queue, missing, '');
    expect(await publishOne(transport)).toEqual({ kind: 'delivered' });
    await channel.deleteExchange(missing);
    await transport.close();
  });

  it('a message survives the broker where its queue does, and says what it is', async () => {
    const { queue } = await channel.assertQueue('', { exclusive: true });
    await channel.bindQueue(queue, exchange, 'order.kept');
    const transport = new RabbitmqTransport(options);
    const event = outgoingEvent({ type: 'order.kept' });
    expect(await publishOne(transport, event)).toEqual({ kind: 'delivered' });
    await transport.close();
    const message = await channel.get(queue, { noAck: true });
    expect(message ? message.properties : undefined).toMatchObject({
      deliveryMode: 2,
      messageId: event.envelope.id,
      type: 'order.kept',
      timestamp: Math.floor(event.envelope.createdAt.getTime() / 1000),
    });
    await arrivals.take(1);
  });

  it('a payload over the limit is dead without being sent, because RabbitMQ would close the channel', async () => {
    const transport = new RabbitmqTransport({ ...options, maxMessageBytes: 1000 });
    const outcomes = await transport.publish(
      [outgoingEvent(), outgoingEvent({ payload: 'x'.repeat(1000) })],
      AbortSignal.timeout(10_000),
    );
    await transport.close();
    expect(outcomes).toEqual([
      { kind: 'delivered' },
      { kind: 'dead', error: expect.stringContaining('the limit is 1000') },
    ]);
    await arrivals.take(1);
  });

  it('a connection on which nothing can be published is not left open', async () => {
    const proxy = await startTcpProxy(rabbitmq.url);
    const gone = `${exchange}-soon-gone`;
    const transport = new RabbitmqTransport({ ...options, url: proxy.through(rabbitmq.url), exchange: gone });
    expect(await publishOne(transport)).toMatchObject({ kind: 'unreachable' });
    await expect.poll(() => proxy.open(/AMQP/)).toBe(0);
    await channel.assertExchange(gone, 'fanout', { durable: false });
    expect(await publishOne(transport)).toMatchObject({ kind: 'retry', error: expect.stringContaining('NO_ROUTE') });
    await channel.deleteExchange(gone);
    expect(await publishOne(transport)).toMatchObject({ kind: 'retry' });
    await expect.poll(() => proxy.open(/AMQP/)).toBe(0);
    await transport.close();
    await proxy.close();
  });

  it('an exchange that goes while it publishes costs nobody his event: what was not confirmed is tried again', async () => {
    const gone = `${exchange}-gone`;
    await channel.assertExchange(gone, 'fanout', { durable: false });
    const { queue } = await channel.assertQueue('', { exclusive: true });
    await channel.bindQueue(queue, gone, '');
    const transport = new RabbitmqTransport({ ...options, exchange: gone });
    expect(await publishOne(transport)).toEqual({ kind: 'delivered' });
    await channel.deleteExchange(gone);
    const outcomes = await transport.publish([outgoingEvent(), outgoingEvent()], AbortSignal.timeout(10_000));
    const unconfirmed = { kind: 'retry', error: expect.stringContaining('did not confirm') };
    expect(outcomes).toEqual([unconfirmed, unconfirmed]);
    expect(await publishOne(transport)).toMatchObject({ kind: 'unreachable' });
    await transport.close();
  });

  it('makes the topology that it is given on each new connection', async () => {
    const own = `${exchange}-own`;
    const queue = `${own}-queue`;
    const transport = new RabbitmqTransport({
      ...options,
      exchange: own,
      topology: async (declaring) => {
        await declaring.assertExchange(own, 'topic', { durable: false });
        await declaring.assertQueue(queue, { durable: false });
        await declaring.bindQueue(queue, own, '#');
      },
    });
    expect(await publishOne(transport)).toEqual({ kind: 'delivered' });
    expect(await channel.checkQueue(queue)).toMatchObject({ messageCount: 1 });
    await transport.close();
    await channel.deleteQueue(queue);
    await channel.deleteExchange(own);
  });

  itGoesOnAfterACut(
    rabbitmq.url,
    (url) => new RabbitmqTransport({ ...options, url }),
    (count) => arrivals.take(count),
  );
});

describe('the options of RabbitmqTransport', () => {
  it.each([
    [{ url: 'localhost' }, /amqp:\/\//],
    [{ url: undefined }, /"url" must be/],
    [{ url: NOWHERE, exchange: '' }, /"exchange" is ""/],
    [{ url: NOWHERE, unroutable: 'delivered' }, /"unroutable" is "delivered"/],
    [{ url: NOWHERE, maxMessageBytes: 0.5 }, /"maxMessageBytes" is 0.5/],
  ])('%j is refused', (options, message) => {
    expect(() => new RabbitmqTransport(options as never)).toThrow(message);
  });
});

function toHeldEvent({ properties, content }: ConsumeMessage): HeldEvent {
  const headers = Object.entries(properties.headers ?? {}).map(([name, value]) => [name, String(value)] as const);
  return binaryEvent(headers, 'cloudEvents_', properties.contentType, content.toString());
}
