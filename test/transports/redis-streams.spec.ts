import { randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';
import { RedisStreamsTransport } from 'nestjs-transactional-outbox/redis-streams';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { HeldEvent } from '../../libs/outbox/src/testing/transport-contract/index.js';
import { outgoingEvent, publishOne } from '../integration/transport-events.js';
import { redis } from '../support/brokers.js';
import { itKeepsTheContract } from './contract.js';
import { binaryEvent } from './held-events.js';

const NOWHERE = 'redis://127.0.0.1:1';
const open = new AbortController().signal;

describe.skipIf(redis.mayLack)('RedisStreamsTransport', () => {
  const prefix = `test-${randomUUID()}:`;
  const options = { redis: { ...addressOf(redis.url), keyPrefix: prefix } };
  const stream = `${prefix}outbox.event.order`;
  let client: Redis;
  beforeAll(() => {
    client = new Redis(redis.url);
  });
  afterAll(async () => {
    const keys = await client.keys(`${prefix}*`);
    if (keys.length > 0) await client.del(keys);
    client.disconnect();
  });

  const take = async (count: number): Promise<HeldEvent[]> => {
    const entries = await client.xrange(stream, '-', '+');
    await client.del(stream);
    expect(entries.length).toBeGreaterThanOrEqual(count);
    return entries.map(([, fields]) => toHeldEvent(fields));
  };

  itKeepsTheContract(
    {
      open: () => new RedisStreamsTransport(options),
      openUnreachable: () => new RedisStreamsTransport({ redis: NOWHERE }),
    },
    take,
  );

  it('an event that Redis refuses holds the later ones of its aggregate, and nobody else', async () => {
    await client.set(`${prefix}outbox.event.broken`, 'no stream');
    const transport = new RedisStreamsTransport(options);
    const broken = { aggregateType: 'broken', aggregateId: 'a' };
    const outcomes = await transport.publish(
      [
        outgoingEvent({ ...broken, sequence: 1n }),
        outgoingEvent({ aggregateId: 'a', sequence: 1n }),
        outgoingEvent({ ...broken, sequence: 2n }),
        outgoingEvent({ ...broken, aggregateId: 'b', sequence: 1n }),
        outgoingEvent(broken),
      ],
      open,
    );
    await transport.close();
    expect(outcomes.map(({ kind }) => kind)).toEqual(['retry', 'delivered', 'held', 'retry', 'retry']);
    expect(outcomes[0]).toMatchObject({ error: expect.stringContaining('WRONGTYPE') });
    expect(await take(1)).toHaveLength(1);
  });

  it('a stream keeps about as many entries as it is told to', async () => {
    const transport = new RedisStreamsTransport({ ...options, maxLength: 100 });
    for (let round = 0; round < 5; round += 1) {
      await transport.publish(
        Array.from({ length: 200 }, () => outgoingEvent()),
        open,
      );
    }
    await transport.close();
    const length = await client.xlen(stream);
    expect(length).toBeGreaterThanOrEqual(100);
    expect(length).toBeLessThan(400);
    await client.del(stream);
  });

  it('an account that must not write makes the destination unreachable, and it goes on when it may', async () => {
    const username = prefix.slice(0, -1);
    await client.call('ACL', 'SETUSER', username, 'on', '>secret', '~*', '+@all', '-@scripting');
    const transport = new RedisStreamsTransport({ redis: { ...options.redis, username, password: 'secret' } });
    const refused = await publishOne(transport);
    expect(refused).toMatchObject({ kind: 'unreachable', error: expect.stringContaining('NOPERM') });
    expect(JSON.stringify(refused)).not.toContain('secret');
    await client.call('ACL', 'SETUSER', username, '+@scripting');
    expect(await publishOne(transport)).toEqual({ kind: 'delivered' });
    await transport.close();
    await client.call('ACL', 'DELUSER', username);
    await client.del(stream);
  });

  it('a wrong password makes the destination unreachable', async () => {
    const username = `${prefix.slice(0, -1)}-other`;
    await client.call('ACL', 'SETUSER', username, 'on', '>secret', '~*', '+@all');
    const transport = new RedisStreamsTransport({ redis: { ...options.redis, username, password: 'wrong' } });
    expect(await publishOne(transport)).toMatchObject({
      kind: 'unreachable',
      error: expect.stringContaining('WRONGPASS'),
    });
    await transport.close();
    await client.call('ACL', 'DELUSER', username);
  });

  it('goes on after its connection was cut', async () => {
    const transport = new RedisStreamsTransport({ redis: { ...options.redis, connectionName: prefix } });
    expect(await publishOne(transport)).toEqual({ kind: 'delivered' });
    const clients = (await client.client('LIST')) as string;
    const [, id] = new RegExp(`id=(\\d+) .*name=${prefix}`).exec(clients) ?? [];
    await client.client('KILL', 'ID', Number(id));
    await expect.poll(async () => (await publishOne(transport)).kind).toBe('delivered');
    await transport.close();
    await client.del(stream);
  });
});

describe('the options of RedisStreamsTransport', () => {
  it.each([
    [{ redis: 'localhost' }, /redis:\/\//],
    [{ redis: undefined }, /"redis" must be/],
    [{ redis: NOWHERE, maxLength: 0 }, /"maxLength" is 0/],
    [{ redis: NOWHERE, source: ' ' }, /"source"/],
  ])('%j is refused', (options, message) => {
    expect(() => new RedisStreamsTransport(options as never)).toThrow(message);
  });
});

function addressOf(url: string): { host: string; port: number; password?: string } {
  const { hostname, port, password } = new URL(url);
  return { host: hostname, port: Number(port), ...(password === '' ? {} : { password }) };
}

function toHeldEvent(fields: readonly string[]): HeldEvent {
  const entry = new Map<string, string>();
  for (let index = 0; index < fields.length; index += 2) entry.set(fields[index] ?? '', fields[index + 1] ?? '');
  return binaryEvent(entry, 'ce_', entry.get('content-type'), entry.get('data') ?? '');
}
