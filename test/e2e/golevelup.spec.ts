import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { type Channel, type ChannelModel, connect } from 'amqplib';
import { RabbitmqTransport } from 'nestjs-transactional-outbox/rabbitmq';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { outgoingEvent, publishOne } from '../integration/transport-events.js';
import { rabbitmq } from '../support/brokers.js';
import { type ChildProgram, startChild } from '../support/child-process.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';

const PROJECT = fileURLToPath(new URL('../nest-11', import.meta.url));
const CONSUMER = `${PROJECT}/dist/main.js`;
const UNSAFE_SETTINGS = `${PROJECT}/dist/unsafe-settings.js`;
const PATIENT = { timeout: 20_000 };
const SOON = { parkAfter: 3, redeliveryBaseMs: 20, redeliveryCapMs: 50, retryAfterSeconds: 1, waitMs: 300 };

describe.skipIf(rabbitmq.mayLack)('the inbox on a @RabbitSubscribe handler of golevelup', () => {
  const queue = `test-${randomUUID()}`;
  const deadLetters = `${queue}-dead`;
  let database: TestDatabase;
  let connection: ChannelModel;
  let channel: Channel;
  let transport: RabbitmqTransport;
  let consumer: ChildProgram;

  beforeAll(async () => {
    await npm('ci', '--no-audit', '--no-fund', '--loglevel=error');
    await npm('run', '--silent', 'build');
    database = await createTestDatabase();
    connection = await connect(rabbitmq.url);
    channel = await connection.createChannel();
    await channel.assertExchange(queue, 'topic', { durable: false });
    await channel.assertQueue(deadLetters, { durable: false });
    const deadLettering = { deadLetterExchange: '', deadLetterRoutingKey: deadLetters };
    await channel.assertQueue(queue, { durable: false, ...deadLettering });
    await channel.bindQueue(queue, queue, 'order.*');
    transport = new RabbitmqTransport({ url: rabbitmq.url, exchange: queue });
    consumer = await consume();
  }, 180_000);

  afterAll(async () => {
    await transport.close();
    for (const name of [queue, deadLetters]) await channel.deleteQueue(name);
    await channel.deleteExchange(queue);
    await connection.close();
    await database.drop();
  });

  const start = (program: string, inbox: object = SOON): ChildProgram =>
    startChild(program, {
      env: { DATABASE: database.url, RABBITMQ: rabbitmq.url, QUEUE: queue, INBOX: JSON.stringify(inbox) },
    });
  const consume = async (inbox?: object): Promise<ChildProgram> => {
    const child = start(CONSUMER, inbox);
    await child.waitForLine(/^consumes/);
    return child;
  };
  const order = (what: object = {}) => outgoingEvent({ payload: { orderId: randomUUID(), ...what } });
  type Order = ReturnType<typeof order>;
  const publish = async (event: Order): Promise<void> =>
    expect(await publishOne(transport, event)).toEqual({ kind: 'delivered' });
  const orderIdOf = ({ envelope }: Order): string => (envelope.payload as { orderId: string }).orderId;
  const callsFor = (event: Order): number =>
    consumer.lines.filter((line) => line.startsWith(`called ${orderIdOf(event)}`)).length;
  const effects = async (event: Order): Promise<number> =>
    (await database.query('select 1 from shipments where "orderId" = $1', [orderIdOf(event)])).length;
  const waiting = async (name = queue): Promise<number> => (await channel.checkQueue(name)).messageCount;
  const failures = () =>
    database.query<{ message_id: string; attempts: number; last_error: string; is_parked: boolean; body: Buffer }>(
      'select message_id, attempts, last_error, parked_at is not null as is_parked, body from processed_events_failed order by id',
    );
  const failureOf = async ({ envelope }: Order) =>
    (await failures()).find(({ message_id }) => message_id === envelope.id);
  /** Handlers wait for it before their commit. */
  const holdLock = async (lock: number): Promise<() => Promise<void>> => {
    const session = await database.connect();
    await session.query('select pg_advisory_lock($1)', [lock]);
    return () => session.end();
  };

  it('runs on the Nest 11 and the TypeORM 0.3 of its project', async () => {
    expect(await consumer.waitForLine(/^consumes/)).toMatch(/@nestjs\/core 11\.\S+, typeorm 0\.3\./);
  });

  it('an event is applied once, and its second copy is accepted without a call', async () => {
    const event = order();
    await publish(event);
    await publish({ ...event, redrives: 1 });
    const behind = order();
    await publish(behind);
    await expect.poll(() => effects(behind), PATIENT).toBe(1);
    expect([await effects(event), callsFor(event)]).toEqual([1, 1]);
  });

  it('an event whose handler fails comes again, with nothing left of the failed attempts', async () => {
    const event = order({ failures: 2 });
    await publish(event);
    await expect.poll(() => effects(event), PATIENT).toBe(1);
    expect(callsFor(event)).toBe(3);
    expect(await failures()).toEqual([]);
  });
});

async function npm(...args: readonly string[]): Promise<void> {
  const child = spawn('npm', ['--prefix', PROJECT, ...args], { stdio: ['ignore', 'ignore', 'inherit'] });
  const [status] = (await once(child, 'close')) as [number | null];
  if (status !== 0) throw new Error(`npm ${args.join(' ')} ended with ${status}`);
}
