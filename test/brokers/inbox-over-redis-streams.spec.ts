import { randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';
import { RedisStreamsTransport } from 'nestjs-transactional-outbox/redis-streams';
import { RedisStreamsServer } from 'nestjs-transactional-outbox/redis-streams/server';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { outgoingEvent, publishOne } from '../integration/transport-events.js';
import { redis } from '../support/brokers.js';
import { describeInboxOver } from './inbox-over-brokers.js';
import { type InboxMicroservice, startInboxMicroservice } from './inbox-service.js';

const GROUP = 'shipping';

interface Place {
  readonly client: Redis;
  readonly stream: string;
  readonly transport: RedisStreamsTransport;
  server(options?: Partial<ConstructorParameters<typeof RedisStreamsServer>[0]>): { strategy: RedisStreamsServer };
  /** Entries that were read and not acknowledged, and those that nobody has read. */
  unaccepted(): Promise<number>;
  publish(event?: ReturnType<typeof outgoingEvent>): Promise<void>;
  close(): Promise<void>;
}

function openPlace(): Place {
  const stream = `test-${randomUUID()}`;
  const client = new Redis(redis.url);
  const transport = new RedisStreamsTransport({ redis: redis.url, stream: () => stream });
  return {
    client,
    stream,
    transport,
    server: (options = {}) => ({
      strategy: new RedisStreamsServer({ redis: redis.url, streams: [stream], group: GROUP, ...options }),
    }),
    async unaccepted() {
      const groups = (await client.call('XINFO', 'GROUPS', stream)) as (string | number)[][];
      const [group = []] = groups;
      return Number(group[group.indexOf('pending') + 1]) + Number(group[group.indexOf('lag') + 1]);
    },
    async publish(event = outgoingEvent({ payload: PAYLOAD })) {
      const outcome = await publishOne(transport, event);
      if (outcome.kind !== 'delivered') throw new Error(JSON.stringify(outcome));
    },
    async close() {
      await transport.close();
      await client.del(stream);
      client.disconnect();
    },
  };
}

const PAYLOAD = { orderId: '0198c0de-0000-7000-8000-000000000001', amountCents: 100 };
const PATIENT = { timeout: 15_000 };

let place: Place;
describeInboxOver(
  'Redis Streams',
  {
    redelivers: true,
    async open() {
      place = openPlace();
      return place.server();
    },
    publish: (event) => place.publish(event),
    async publishRaw(body) {
      await place.client.xadd(place.stream, '*', 'data', body);
    },
    unaccepted: () => place.unaccepted(),
    close: () => place.close(),
  },
  redis.mayLack,
);

describe.skipIf(redis.mayLack)('RedisStreamsServer', () => {
  let own: Place;
  const services: InboxMicroservice[] = [];
  beforeAll(() => {
    own = openPlace();
  });
  afterAll(async () => {
    for (const service of services) await service.close();
    await own.close();
  });

  it('takes over what a consumer that died had in its hands, once its time is over', async () => {
    await own.publish();
    await own.client.xgroup('CREATE', own.stream, GROUP, '0', 'MKSTREAM');
    await own.client.call('XREADGROUP', 'GROUP', GROUP, 'dead', 'COUNT', 1, 'STREAMS', own.stream, '>');
    const service = await startInboxMicroservice(own.server({ takeOverAfterMs: 300 }));
    services.push(service);
    await expect.poll(() => service.effects('shipping'), PATIENT).toBe(1);
    await expect.poll(() => own.unaccepted(), PATIENT).toBe(0);
  });

  it('goes on after its connections were cut', async () => {
    const [service] = services;
    const before = (await service?.effects('shipping')) ?? 0;
    const clients = (await own.client.client('LIST')) as string;
    for (const line of clients.split('\n').filter((one) => /cmd=xreadgroup/.test(one))) {
      await own.client.client('KILL', 'ID', Number(/id=(\d+)/.exec(line)?.[1]));
    }
    await own.publish();
    await expect.poll(() => service?.effects('shipping'), PATIENT).toBe(before + 1);
    await expect.poll(() => own.unaccepted(), PATIENT).toBe(0);
  });

  it.each([
    [{ streams: [] }, /"streams" must be/],
    [{ streams: ['a'], group: '' }, /"group" must be/],
    [{ streams: ['a'], group: 'g', startAt: '5' }, /"startAt" is "5"/],
    [{ streams: ['a'], group: 'g', concurrency: 0 }, /"concurrency" is 0/],
  ])('%j is refused', (options, message) => {
    expect(() => new RedisStreamsServer({ redis: redis.url, ...options } as never)).toThrow(message);
  });

  it('a Redis that cannot be reached stops the start', async () => {
    const strategy = new RedisStreamsServer({ redis: 'redis://127.0.0.1:1', streams: ['a'], group: 'g' });
    await expect(startInboxMicroservice({ strategy })).rejects.toThrow(/ECONNREFUSED/);
  });
});
