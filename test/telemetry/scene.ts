import { randomUUID } from 'node:crypto';
import { Controller, Post } from '@nestjs/common';
import { Transport as Broker } from '@nestjs/microservices';
import { connect } from 'amqplib';
import {
  CloudEventDeserializer,
  Inbox,
  InboxEvent,
  InboxTransaction,
  type Transport,
} from 'nestjs-transactional-outbox';
import { HttpTransport } from 'nestjs-transactional-outbox/http';
import { RabbitmqTransport } from 'nestjs-transactional-outbox/rabbitmq';
import type { EntityManager } from 'typeorm';
import { startInboxMicroservice } from '../brokers/inbox-service.js';
import { type InboxApp, OrderPlaced, SECRET, Shipment, startInboxApp } from '../integration/inbox-app.js';
import { rabbitmq } from '../support/brokers.js';
import { OrderNoted } from '../support/outbox-app.js';
import { type OutboxQueue, startOutboxQueue } from '../support/outbox-queue.js';

/** Fails for this amount. */
export const REFUSED_CENTS = 666;

@Controller('events')
class ShippingController {
  @Post()
  @Inbox('shipping')
  async onPlaced(
    @InboxEvent(OrderPlaced) event: OrderPlaced,
    @InboxTransaction() manager: EntityManager,
  ): Promise<void> {
    if (event.amountCents === REFUSED_CENTS) throw new Error(`no ${REFUSED_CENTS} for ${event.orderId}`);
    await manager.insert(Shipment, { orderId: event.orderId });
  }
}

/** The consumer `shipping`, and how to come to it. */
export interface Receiver {
  readonly transport: Transport;
  close(): Promise<void>;
}

export interface HttpReceiver extends Receiver {
  readonly app: InboxApp;
}

export async function openHttpReceiver(): Promise<HttpReceiver> {
  const app = await startInboxApp({ controllers: [ShippingController] });
  const transport = new HttpTransport({
    url: `${app.url}/events`,
    secret: SECRET,
    source: '/orders',
    ssrfGuard: { allow: ['127.0.0.1'] },
  });
  return { app, transport, close: () => app.close() };
}

export async function openRabbitmqReceiver(): Promise<Receiver> {
  const name = `test-${randomUUID()}`;
  const connection = await connect(rabbitmq.url);
  const channel = await connection.createChannel();
  await channel.assertExchange(name, 'topic', { durable: false });
  await channel.assertQueue(name, { durable: false });
  await channel.bindQueue(name, name, 'order.*');
  const service = await startInboxMicroservice({
    transport: Broker.RMQ,
    options: {
      urls: [rabbitmq.url],
      queue: name,
      queueOptions: { durable: false },
      noAck: false,
      prefetchCount: 10,
      deserializer: new CloudEventDeserializer(),
    },
  });
  return {
    transport: new RabbitmqTransport({ url: rabbitmq.url, exchange: name }),
    async close() {
      await service.close();
      await channel.deleteQueue(name);
      await channel.deleteExchange(name);
      await connection.close();
    },
  };
}

/** An outbox whose events all go to `shop`. */
export function startShop(transport: Transport): Promise<OutboxQueue> {
  return startOutboxQueue({
    outbox: {
      destinations: { shop: { transport, retryBaseMs: 1, retryCapMs: 1 } },
      routes: [{ events: [OrderPlaced, OrderNoted], to: ['shop'] }],
    },
  });
}

export function placed(amountCents = 100): OrderPlaced {
  return Object.assign(new OrderPlaced(), { orderId: randomUUID(), amountCents });
}
