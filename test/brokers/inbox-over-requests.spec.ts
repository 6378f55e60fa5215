import { type ClientProxy, ClientProxyFactory, type MicroserviceOptions, Transport } from '@nestjs/microservices';
import { ClientProxyTransport } from 'nestjs-transactional-outbox/client-proxy';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { findFreePort } from '../../libs/embedded-postgres/src/free-port.js';
import { outgoingEvent, publishOne } from '../integration/transport-events.js';
import { type InboxMicroservice, startInboxMicroservice } from './inbox-service.js';

describe('a @MessagePattern handler of the inbox', () => {
  let service: InboxMicroservice;
  let client: ClientProxy;
  let transport: ClientProxyTransport;
  beforeAll(async () => {
    const options: MicroserviceOptions = { transport: Transport.TCP, options: { port: await findFreePort() } };
    service = await startInboxMicroservice(options);
    client = ClientProxyFactory.create(options as Parameters<typeof ClientProxyFactory.create>[0]);
    transport = new ClientProxyTransport({ client, method: 'send' });
  });
  afterAll(async () => {
    client.close();
    await service.close();
  });
  beforeEach(() => service.faults.left.clear());

  const asked = () => outgoingEvent({ type: 'order.asked' });

  it('answers when its transaction is committed, and a second copy gets the answer of the first', async () => {
    const event = asked();
    const before = await service.effects('asked');
    expect(await publishOne(transport, event)).toEqual({ kind: 'delivered' });
    expect(await service.effects('asked')).toBe(before + 1);
    expect(await publishOne(transport, event)).toEqual({ kind: 'delivered' });
    expect(await service.effects('asked')).toBe(before + 1);
  });

  it('that fails tells whoever asked, who tries again: nothing is recorded, and nothing parked', async () => {
    const event = asked();
    const before = await service.effects('asked');
    service.faults.left.set('asked', 1);
    expect(await publishOne(transport, event)).toMatchObject({ kind: 'retry' });
    expect(await service.effects('asked')).toBe(before);
    expect(await service.parked.list()).toEqual([]);
    expect(await publishOne(transport, event)).toEqual({ kind: 'delivered' });
    expect(await service.effects('asked')).toBe(before + 1);
  });
});

describe('a server that acknowledges before the work is done', () => {
  it.each([
    ['RabbitMQ with the default noAck', { transport: Transport.RMQ, options: { queue: 'q' } }, /"noAck: false"/],
    [
      'Kafka with the default autoCommit',
      { transport: Transport.KAFKA, options: { client: { brokers: ['127.0.0.1:1'] } } },
      /autoCommit: false/,
    ],
  ] as const)('stops the start: %s', async (_, options, message) => {
    await expect(startInboxMicroservice(options as unknown as MicroserviceOptions)).rejects.toThrow(message);
  });
});
