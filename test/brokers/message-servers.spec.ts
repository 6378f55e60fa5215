import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { CreateQueueCommand, SQSClient } from '@aws-sdk/client-sqs';
import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { startFauxqs } from 'fauxqs';
import { Redis } from 'ioredis';
import { JetStreamServer } from 'nestjs-transactional-outbox/nats/server';
import { RedisStreamsServer } from 'nestjs-transactional-outbox/redis-streams/server';
import { SqsServer } from 'nestjs-transactional-outbox/sqs/server';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { MessageContext } from '../../libs/outbox/src/transports/consuming/index.js';
import type { Transport } from '../../libs/outbox/src/transports/index.js';
import { outgoingEvent, publishOne } from '../integration/transport-events.js';
import { ACCOUNT, type BrokerChoice, transportOf } from '../processes/broker-choice.js';
import { nats, redis } from '../support/brokers.js';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.js';

type Server = RedisStreamsServer | JetStreamServer | SqsServer;

interface Place {
  readonly choice: BrokerChoice;
  /** One that takes at most `concurrency` at once, and over what has lain for `takeOverMs`. */
  serve(url: string, concurrency: number): Server;
  close(): Promise<void>;
}

interface ServerUnderTest {
  readonly kind: string;
  readonly isSkipped: boolean;
  /** After so long without a word of its process, a message comes to another one. */
  readonly takeOverMs: number;
  open(name: string): Promise<Place>;
}

const PATIENT = { timeout: 15_000 };
const TYPE = 'order.placed';

const SERVERS: readonly ServerUnderTest[] = [
  {
    kind: 'RedisStreamsServer',
    isSkipped: redis.mayLack,
    takeOverMs: 300,
    async open(name) {
      return {
        choice: { kind: 'redis-streams', url: redis.url, place: name },
        serve: (url, concurrency) =>
          new RedisStreamsServer({ redis: url, streams: [name], group: 'shipping', concurrency, takeOverAfterMs: 300 }),
        async close() {
          const client = new Redis(redis.url);
          await client.del(name);
          client.disconnect();
        },
      };
    },
  },
  {
    kind: 'JetStreamServer',
    isSkipped: nats.mayLack,
    takeOverMs: 300,
    async open(name) {
      const connection = await connect({ servers: nats.url });
      const manager = await jetstreamManager(connection);
      await manager.streams.add({ name, subjects: [`${name}.>`], storage: 'memory' });
      return {
        choice: { kind: 'jetstream', url: nats.url, place: name },
        serve: (url, concurrency) =>
          new JetStreamServer({ nats: url, stream: name, durable: 'shipping', concurrency, ackWaitMs: 300 }),
        async close() {
          await manager.streams.delete(name);
          await connection.close();
        },
      };
    },
  },
  {
    kind: 'SqsServer',
    isSkipped: false,
    takeOverMs: 1000,
    async open(name) {
      const fauxqs = await startFauxqs({ port: 0, host: 'localhost', logger: false });
      const url = `http://localhost:${fauxqs.port}`;
      const client = new SQSClient({ ...ACCOUNT, endpoint: url });
      const { QueueUrl: queueUrl = '' } = await client.send(new CreateQueueCommand({ QueueName: name }));
      client.destroy();
      return {
        choice: { kind: 'sqs', url, place: queueUrl },
        serve: (endpoint, concurrency) =>
          new SqsServer({
            queueUrl,
            sqs: { ...ACCOUNT, endpoint, useQueueUrlAsEndpoint: false },
            concurrency,
            visibilitySeconds: 1,
            waitSeconds: 1,
          }),
        close: () => fauxqs.stop(),
      };
    },
  },
];

describe.each(SERVERS)('$kind', ({ isSkipped, takeOverMs, open }) => {
  let place: Place;
  let proxy: TcpProxy;
  let transport: Transport;
  const servers: Server[] = [];
  beforeAll(async () => {
    if (isSkipped) return;
    place = await open(`test-${randomUUID()}`);
    proxy = await startTcpProxy(place.choice.url);
    transport = transportOf(place.choice);
  });
  afterAll(async () => {
    await transport?.close?.();
    await proxy?.close();
    await place?.close();
  });
  let calls = 0;
  beforeEach(() => {
    calls = 0;
  });
  afterEach(async () => {
    for (const server of servers.splice(0)) await server.close();
  });

  const serve = async (concurrency: number, work: (context: MessageContext) => Promise<unknown>): Promise<Server> => {
    const server = place.serve(proxy.through(place.choice.url), concurrency);
    const handler = async (_: unknown, context: MessageContext): Promise<unknown> => {
      calls += 1;
      return work(context);
    };
    server.addHandler(TYPE, handler, true);
    await new Promise<void>((resolve, reject) => {
      void server.listen((error?: unknown) => (error === undefined ? resolve() : reject(error)));
    });
    servers.push(server);
    return server;
  };
  const publish = async (count: number): Promise<void> => {
    for (let sent = 0; sent < count; sent += 1)
      expect((await publishOne(transport, outgoingEvent({ type: TYPE }))).kind).toBe('delivered');
  };

  it.skipIf(isSkipped)('what takes longer than others wait is not taken over while it is being processed', async () => {
    let ended = 0;
    const work = async (): Promise<void> => {
      await wait(4 * takeOverMs); // as long as the work takes
      ended += 1;
    };
    await serve(1, work);
    await serve(1, work);
    await publish(1);
    await expect.poll(() => ended, PATIENT).toBe(1);
    expect(calls).toBe(1);
  });

  it.skipIf(isSkipped)('closing waits for the handlers that run, and accepts what they processed', async () => {
    const order: string[] = [];
    const server = await serve(2, async () => {
      await wait(200); // as long as the work takes
      order.push('processed');
    });
    await publish(1);
    await expect.poll(() => calls, PATIENT).toBe(1);
    await server.close();
    order.push('closed');
    expect(order).toEqual(['processed', 'closed']);
    await expect.poll(() => proxy.open(/^/), PATIENT).toBe(0);
    servers.splice(0);

    await serve(1, async () => undefined);
    await publish(1);
    await expect.poll(() => calls, PATIENT).toBe(2);
  });

  it.skipIf(isSkipped)('a message that is to come again comes when its pause is over, and not before', async () => {
    const pauseMs = 1000;
    const cameAt: number[] = [];
    await serve(2, async (context) => {
      cameAt.push(performance.now());
      if (cameAt.length === 1) await context.deliverAgain(pauseMs);
    });
    await publish(1);
    await expect.poll(() => cameAt.length, PATIENT).toBe(2);
    expect((cameAt[1] ?? 0) - (cameAt[0] ?? 0)).toBeGreaterThan(pauseMs - 100);
  });

  it.skipIf(isSkipped)('no more messages are in work at once than it is told', async () => {
    const running = { now: 0, most: 0, ended: 0 };
    await publish(8);
    await serve(2, async () => {
      running.now += 1;
      running.most = Math.max(running.most, running.now);
      await wait(100); // as long as the work takes
      running.now -= 1;
      running.ended += 1;
    });
    await expect.poll(() => running.ended, PATIENT).toBeGreaterThanOrEqual(8);
    expect(running.most).toBe(2);
  });

  it.skipIf(isSkipped)('it goes on after its connections were cut', async () => {
    await serve(2, async () => undefined);
    await publish(1);
    await expect.poll(() => calls, PATIENT).toBe(1);
    proxy.refuse(/^/);
    await publish(1); // over a connection of its own
    proxy.refuse(undefined);
    await expect.poll(() => calls, PATIENT).toBeGreaterThanOrEqual(2);
  });
});
