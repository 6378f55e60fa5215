import { randomUUID } from 'node:crypto';
import { CreateQueueCommand, GetQueueAttributesCommand, SQSClient } from '@aws-sdk/client-sqs';
import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { Test, type TestingModule } from '@nestjs/testing';
import { TypeOrmModule } from '@nestjs/typeorm';
import { startFauxqs } from 'fauxqs';
import { DeadLetterService, OutboxDispatcher, OutboxModule, OutboxService } from 'nestjs-transactional-outbox';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { OrderPlaced } from '../integration/inbox-app.js';
import { ACCOUNT, type BrokerChoice, transportOf } from '../processes/broker-choice.js';
import { nats } from '../support/brokers.js';
import { byHand } from '../support/by-hand.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.js';

interface Place {
  readonly choice: BrokerChoice;
  /** With it the packets begin by which the broker acknowledges. */
  readonly acknowledgement: string;
  messages(): Promise<number>;
  close(): Promise<void>;
}

const BROKERS: readonly { name: string; isSkipped: boolean; open(): Promise<Place> }[] = [
  {
    name: 'JetStream',
    isSkipped: nats.mayLack,
    async open() {
      const place = `test-${randomUUID()}`;
      const connection = await connect({ servers: nats.url });
      const manager = await jetstreamManager(connection);
      await manager.streams.add({ name: place, subjects: [`${place}.>`], storage: 'memory' });
      return {
        choice: { kind: 'jetstream', url: nats.url, place },
        acknowledgement: 'M',
        messages: async () => (await manager.streams.info(place)).state.messages,
        async close() {
          await manager.streams.delete(place);
          await connection.close();
        },
      };
    },
  },
  {
    name: 'a FIFO queue of SQS',
    isSkipped: false,
    async open() {
      const server = await startFauxqs({ port: 0, host: 'localhost', logger: false });
      const url = `http://localhost:${server.port}`;
      const client = new SQSClient({ ...ACCOUNT, endpoint: url });
      const { QueueUrl: place = '' } = await client.send(
        new CreateQueueCommand({ QueueName: 'orders.fifo', Attributes: { FifoQueue: 'true' } }),
      );
      return {
        choice: { kind: 'sqs', url, place },
        acknowledgement: 'H',
        async messages() {
          const command = new GetQueueAttributesCommand({ QueueUrl: place, AttributeNames: ['All'] });
          return Number((await client.send(command)).Attributes?.ApproximateNumberOfMessages);
        },
        async close() {
          client.destroy();
          await server.stop();
        },
      };
    },
  },
];

describe.each(BROKERS)('a broker that drops second copies: $name', ({ isSkipped, open }) => {
  let database: TestDatabase;
  let place: Place;
  let proxy: TcpProxy;
  let module: TestingModule;
  beforeAll(async () => {
    if (isSkipped) return;
    database = await createTestDatabase();
    place = await open();
    proxy = await startTcpProxy(place.choice.url);
    const destination = {
      transport: transportOf({ ...place.choice, url: proxy.through(place.choice.url) }),
      publishTimeoutMs: 500,
      leaseMs: 2000,
      retryBaseMs: 1,
      retryCapMs: 1,
      maxAttempts: 2,
    };
    module = await Test.createTestingModule({
      imports: [
        TypeOrmModule.forRoot({ type: 'postgres', url: database.url }),
        OutboxModule.forRoot({
          destinations: { shipping: destination },
          routes: [{ events: [OrderPlaced], to: ['shipping'] }],
          migrate: 'auto',
          dispatcher: { schedule: false },
        }),
      ],
    }).compile();
    await module.init();
  });
  afterAll(async () => {
    await module?.close();
    await proxy?.close();
    await place?.close();
    await database?.drop();
  });

  const emit = (): Promise<string[]> => {
    const outbox = module.get(OutboxService);
    const event = Object.assign(new OrderPlaced(), { orderId: randomUUID(), amountCents: 100 });
    return outbox.transaction(() => outbox.emit(event));
  };
  const drain = () => module.get(OutboxDispatcher).drain();

  it.skipIf(isSkipped)('an event that it has, but did not say so, is delivered by the second try, once', async () => {
    const before = await place.messages();
    proxy.swallowFrames(place.acknowledgement);
    await emit();
    expect(await module.get(OutboxDispatcher).dispatchOnce()).toMatchObject({ retried: 1, delivered: 0 });
    proxy.swallowFrames(undefined);
    await expect.poll(async () => (await drain()).delivered).toBe(1);
    expect(await place.messages()).toBe(before + 1);
  });

  it.skipIf(isSkipped)(
    'a dead letter that it has is really sent again, each time that somebody redrives it',
    async () => {
      const before = await place.messages();
      const letters = module.get(DeadLetterService);
      const dieOf = async (): Promise<void> => {
        proxy.swallowFrames(place.acknowledgement);
        await expect
          .poll(
            async () => {
              await drain();
              return (await letters.list()).length;
            },
            { timeout: 15_000 },
          )
          .toBe(1);
        proxy.swallowFrames(undefined);
      };
      const [id] = await emit();
      await dieOf();
      expect(await place.messages(), 'the second try was dropped').toBe(before + 1);
      await letters.redrive({ ids: (await letters.list()).map((letter) => letter.id) }, byHand);
      await dieOf();
      expect(await place.messages()).toBe(before + 2);
      expect((await letters.list()).map(({ eventId }) => eventId)).toEqual([id]);
      await letters.redrive({ ids: (await letters.list()).map((letter) => letter.id) }, byHand);
      await expect.poll(async () => (await drain()).delivered).toBe(1);
      expect(await place.messages()).toBe(before + 3);
    },
  );
});
