import { jetstreamManager } from '@nats-io/jetstream';
import { connect as connectNats } from '@nats-io/transport-node';
import { Redis } from 'ioredis';
import { describe, expect, inject, it } from 'vitest';
import { nats, rabbitmq, redis } from '../support/brokers.js';
import { startChild } from '../support/child-process.js';
import { createTestDatabase } from '../support/database.js';
import { mayLackKafka } from '../support/kafka-cluster.js';

const demo = new URL('../../apps/demo/dist/main.js', import.meta.url);

/** Second copies are dropped by these two; the others bring them, and the inbox drops them. */
const OVER: readonly { transport: string; received: number; isSkipped: boolean }[] = [
  { transport: 'redis', received: 8, isSkipped: redis.mayLack },
  { transport: 'rabbitmq', received: 8, isSkipped: rabbitmq.mayLack },
  { transport: 'kafka', received: 8, isSkipped: mayLackKafka },
  { transport: 'nats', received: 5, isSkipped: nats.mayLack },
  { transport: 'sqs', received: 5, isSkipped: false },
  { transport: 'in-process', received: 8, isSkipped: false },
];

const PASSWORDS = 'me:hush@';

describe('the demo', () => {
  const start = (args: readonly string[]): ReturnType<typeof startChild> =>
    startChild(demo, { args, env: { DATABASE_URL: inject('adminDatabaseUrl'), KAFKA_BROKERS: '', SQS_ENDPOINT: '' } });

  /** Databases of demos on the server of this test run. */
  const leftBehind = async (): Promise<string[]> => {
    const database = await createTestDatabase();
    const rows = await database.query<{ datname: string }>(
      "select datname from pg_database where datname like 'outbox\\_demo\\_%'",
    );
    await database.drop();
    return rows.map(({ datname }) => datname);
  };

  it('shows 8 received, 5 distinct and 5 shipped after a crash, a dual write that loses nothing, and stays up until it is told to end', async () => {
    const child = start(['--json']);
    const figures = await child.waitForLine(/^\{"transport":/, 110_000);
    expect(child.lines.join('\n')).toMatch(
      /process \d+ ended by SIGKILL\n.*received by shipping: 3; marked as delivered: 0;/,
    );
    expect(JSON.parse(figures)).toEqual({
      transport: 'http',
      orders: 5,
      received: 8,
      distinct: 5,
      shipments: 5,
      doubleShipments: 0,
      lost: 0,
      outOfOrder: 0,
      inventory: { received: 5, distinct: 5, reservations: 5 },
      dualWrite: { naive: { ghosts: 2, missing: 2 }, outbox: { ghosts: 0, missing: 0 } },
    });
    const addressIn = (line: string): string => /http:\S+/.exec(line)?.[0] ?? '';
    const shipments = addressIn(await child.waitForLine(/^ {3}curl http:\S+\/shipments$/, 1000));
    // Three of the five paths of the dual write ship with the outbox, beside the five of before.
    expect(await (await fetch(shipments)).json()).toHaveLength(8);
    const dashboard = addressIn(await child.waitForLine(/^ {3}http:\S+\/outbox /, 1000));
    expect(await (await fetch(`${dashboard}/api/overview`)).json()).toMatchObject({
      destinations: [
        { name: 'inventory', status: 'healthy' },
        { name: 'shipping', status: 'healthy' },
      ],
    });
    await child.kill('SIGTERM');
    expect(child.exitCode).toBe(0);
    await expect(fetch(shipments)).rejects.toThrow();
    expect(await leftBehind()).toEqual([]);
  }, 150_000);

  for (const { transport, received, isSkipped } of OVER) {
    it.skipIf(isSkipped)(
      `tells the story of the delivery over ${transport}: ${received} received, 5 distinct and 5 shipped`,
      async () => {
        const child = start(['--once', '--json', '--delivery-only', '--transport', transport]);
        expect(await child.exited, child.lines.join('\n')).toBe(0);
        expect(child.lines.join('\n')).toMatch(
          /process \d+ ended by SIGKILL\n.*received by shipping: 3; marked as delivered: 0;/,
        );
        expect(JSON.parse(child.lines.at(-1) ?? '')).toEqual({
          transport,
          orders: 5,
          received,
          distinct: 5,
          shipments: 5,
          doubleShipments: 0,
          lost: 0,
          outOfOrder: 0,
          inventory: { received: 5, distinct: 5, reservations: 5 },
        });
        expect([...(await leftBehind()), ...(await leftInBroker(transport))]).toEqual([]);
      },
      180_000,
    );
  }

  it('refuses arguments that it does not know or that make no sense', async () => {
    for (const [args, complaint] of [
      [['--order', '5'], "Unknown option '--order'"],
      [['--orders', '0'], '--orders is "0"; it must be a whole number from 1 to 1000.'],
      [['--orders', 'many'], '--orders is "many"'],
      [['now'], "Unexpected argument 'now'"],
      [['--transport', 'pigeon'], '--transport is "pigeon"; it must be one of http, redis, rabbitmq, kafka,'],
    ] as const) {
      const child = start(args);
      expect(await child.exited).toBe(2);
      expect(child.lines[0]).toContain(`demo: ${complaint}`);
    }
  });

  it.each([
    ['redis', { REDIS_URL: `redis://${PASSWORDS}127.0.0.1:1` }, 'docker compose up -d redis'],
    ['rabbitmq', { RABBITMQ_URL: `amqp://${PASSWORDS}127.0.0.1:1` }, 'docker compose up -d rabbitmq'],
    ['nats', { NATS_URL: `nats://${PASSWORDS}127.0.0.1:1` }, 'docker compose up -d nats'],
    ['kafka', { KAFKA_BROKERS: '127.0.0.1:1' }, 'docker compose up -d kafka, then KAFKA_BROKERS=127.0.0.1:9092'],
    ['kafka', { KAFKA_BROKERS: '', PATH: '/nowhere' }, 'apt-get install kcat, which the demo then starts by itself'],
    ['sqs', { SQS_ENDPOINT: 'http://127.0.0.1:1' }, 'without SQS_ENDPOINT, the demo starts fauxqs by itself'],
  ] as const)('says how to start the server of %s when it is not there (%o)', async (transport, env, howTo) => {
    const child = startChild(demo, {
      args: ['--once', '--transport', transport],
      env: { DATABASE_URL: inject('adminDatabaseUrl'), ...env },
    });
    expect(await child.exited).toBe(1);
    const said = child.lines.join('\n');
    expect(said).toMatch(/^demo: \S.* cannot be used at .* \(.+\)\. Start it, or say where it is:$/m);
    expect(said).toContain(`  ${howTo}`);
    expect(said).not.toContain('hush');
    expect(await leftBehind()).toEqual([]);
  });

  it('says so when it cannot use the server that DATABASE_URL names', async () => {
    const child = startChild(demo, {
      args: ['--once'],
      env: { DATABASE_URL: 'postgres://me:hush@127.0.0.1:1/postgres' },
    });
    expect(await child.exited).toBe(1);
    expect(child.lines.at(-1)).toBe(
      'demo: the PostgreSQL that DATABASE_URL names, at 127.0.0.1:1, cannot be used (ECONNREFUSED).',
    );
  });
});

/** What a demo has made and not removed, where the broker can be asked for it. */
async function leftInBroker(transport: string): Promise<string[]> {
  if (transport === 'redis') {
    const client = new Redis(redis.url);
    const keys = await client.keys('outbox-demo-*');
    client.disconnect();
    return keys;
  }
  if (transport === 'nats') {
    const connection = await connectNats({ servers: nats.url });
    const names = await (await jetstreamManager(connection)).streams.names().next();
    await connection.close();
    return names.filter((name) => name.startsWith('outbox-demo-'));
  }
  return [];
}
