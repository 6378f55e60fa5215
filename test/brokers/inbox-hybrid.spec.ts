import { Controller, type INestApplication, Post } from '@nestjs/common';
import { EventPattern, MessagePattern, type MicroserviceOptions, Transport } from '@nestjs/microservices';
import {
  CloudEventDeserializer,
  Inbox,
  InboxEvent,
  InboxTransaction,
  ParkedMessageService,
} from 'nestjs-transactional-outbox';
import { ClientProxyTransport } from 'nestjs-transactional-outbox/client-proxy';
import { RabbitmqTransport } from 'nestjs-transactional-outbox/rabbitmq';
import { Observable, of } from 'rxjs';
import type { EntityManager } from 'typeorm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type InboxApp,
  OrderPlaced,
  orderPlaced,
  PLATFORMS,
  Shipment,
  startInboxApp,
} from '../integration/inbox-app.js';
import { outgoingEvent, publishOne } from '../integration/transport-events.js';
import { rabbitmq } from '../support/brokers.js';
import { openRabbitmqQueue, type RabbitmqQueue } from '../support/rabbitmq-queue.js';
import { HttpOnlyFilter } from './http-only-filter.js';

const PATIENT = { timeout: 15_000 };
const PAYLOAD = orderPlaced().data;

let failures = 0;

@Controller()
class HybridController {
  @Post('events')
  @Inbox('by-http')
  async byHttp(@InboxEvent(OrderPlaced) event: OrderPlaced, @InboxTransaction() manager: EntityManager): Promise<void> {
    await manager.insert(Shipment, { orderId: event.orderId, consumer: 'by-http' });
  }

  @EventPattern<string>('order.placed')
  @Inbox('by-rabbitmq')
  byRabbitmq(
    @InboxEvent(OrderPlaced) event: OrderPlaced,
    @InboxTransaction() manager: EntityManager,
  ): Observable<void> {
    return new Observable((subscriber) => {
      manager
        .insert(Shipment, { orderId: event.orderId, consumer: 'by-rabbitmq' })
        .then(() => {
          if (failures > 0) {
            failures -= 1;
            throw new Error('the handler failed');
          }
          subscriber.complete(); // without a value
        })
        .catch((error) => subscriber.error(error));
    });
  }

  @MessagePattern('order.counted')
  @Inbox('by-request')
  counted(): Observable<number> {
    return of(1, 2, 3);
  }
}

const CASES = PLATFORMS.flatMap((platform) => [true, false].map((inherits) => ({ platform, inherits })));

describe.skipIf(rabbitmq.mayLack).each(CASES)(
  'a hybrid application on $platform, with inheritAppConfig $inherits, a global guard and a global filter',
  ({ platform, inherits }) => {
    const filter = new HttpOnlyFilter();
    let queue: RabbitmqQueue;
    let inbox: InboxApp;
    let transport: RabbitmqTransport;
    beforeAll(async () => {
      queue = await openRabbitmqQueue();
      transport = new RabbitmqTransport({ url: rabbitmq.url, exchange: queue.name });
      inbox = await startInboxApp({
        platform,
        controllers: [HybridController],
        inbox: { parkAfter: 3, redeliveryBaseMs: 20, redeliveryCapMs: 50 },
        prepare: (app) => prepare(app),
      });
      await inbox.app.startAllMicroservices();
    });
    afterAll(async () => {
      await transport.close();
      await inbox.close();
      await queue.close();
    });

    function prepare(app: INestApplication): void {
      app.useGlobalFilters(filter);
      app.useGlobalGuards({ canActivate: () => true });
      const options: MicroserviceOptions = {
        transport: Transport.RMQ,
        options: {
          urls: [rabbitmq.url],
          queue: queue.name,
          queueOptions: { durable: false },
          noAck: false,
          deserializer: new CloudEventDeserializer(),
        },
      };
      app.connectMicroservice(options, { inheritAppConfig: inherits });
    }

    const effects = async (consumer: string): Promise<number> =>
      (await inbox.database.query('select 1 from shipments where consumer = $1', [consumer])).length;

    it('takes each event once by HTTP and once by the broker, and acknowledges second copies', async () => {
      const message = orderPlaced();
      expect((await inbox.deliver(message)).status).toBe(201);
      expect((await inbox.deliver(message)).status).toBe(200);
      const event = outgoingEvent({ payload: PAYLOAD });
      for (const redrives of [0, 1])
        expect(await publishOne(transport, { ...event, redrives })).toEqual({ kind: 'delivered' });
      await expect.poll(() => effects('by-rabbitmq'), PATIENT).toBe(1);
      await expect.poll(() => queue.waiting(), PATIENT).toBe(0);
      expect(await effects('by-http')).toBe(1);
      expect(await effects('by-rabbitmq')).toBe(1);
    });

    it('an event whose handler fails comes again, without a word to the filter of HTTP', async () => {
      const before = await effects('by-rabbitmq');
      failures = 1;
      expect(await publishOne(transport, outgoingEvent({ payload: PAYLOAD }))).toEqual({ kind: 'delivered' });
      await expect.poll(() => effects('by-rabbitmq'), PATIENT).toBe(before + 1);
      expect(filter.seen.filter((type) => type !== 'http')).toEqual([]);
    });

    it('a broken message is parked, by HTTP it is refused', async () => {
      queue.channel.sendToQueue(queue.name, Buffer.from('{"pattern":"order.placed","data":"nothing"}'));
      const parked = inbox.app.get(ParkedMessageService);
      await expect.poll(() => parked.list(), PATIENT).toHaveLength(1);
      await parked.discard({});
      const answer = await inbox.post('/events', '{', { 'content-type': 'application/cloudevents+json' });
      expect(answer.status).toBeGreaterThanOrEqual(400);
      expect(filter.seen.filter((type) => type !== 'http')).toEqual([]);
    });

    it('every value of a request over the broker is answered', async () => {
      const { ClientProxyFactory } = await import('@nestjs/microservices');
      const client = ClientProxyFactory.create({
        transport: Transport.RMQ,
        options: { urls: [rabbitmq.url], queue: queue.name, queueOptions: { durable: false } },
      });
      const values: unknown[] = [];
      const proxy = new ClientProxyTransport({ client: recording(client, values), method: 'send' });
      expect(await publishOne(proxy, outgoingEvent({ type: 'order.counted', payload: {} }))).toEqual({
        kind: 'delivered',
      });
      expect(values).toEqual([1, 2, 3]);
      await proxy.close();
      client.close();
    });
  },
);

/** The client, and what it is answered. */
function recording(
  client: ConstructorParameters<typeof ClientProxyTransport>[0]['client'],
  values: unknown[],
): ConstructorParameters<typeof ClientProxyTransport>[0]['client'] {
  return {
    connect: () => client.connect(),
    emit: (pattern, data) => client.emit(pattern, data),
    send: (pattern, data) =>
      new Observable((subscriber) =>
        client.send(pattern, data).subscribe({
          next: (value) => {
            values.push(value);
            subscriber.next(value);
          },
          error: (error) => subscriber.error(error),
          complete: () => subscriber.complete(),
        }),
      ),
  };
}
