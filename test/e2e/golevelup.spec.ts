import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { RabbitmqTransport } from 'nestjs-transactional-outbox/rabbitmq';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { outgoingEvent, publishOne } from '../integration/transport-events.js';
import { rabbitmq } from '../support/brokers.js';
import { type ChildProgram, startChild } from '../support/child-process.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { openRabbitmqQueue, type RabbitmqQueue } from '../support/rabbitmq-queue.js';

const PROJECT = fileURLToPath(new URL('../nest-11', import.meta.url));
const CONSUMER = `${PROJECT}/dist/main.js`;
const UNSAFE_SETTINGS = `${PROJECT}/dist/unsafe-settings.js`;
const PATIENT = { timeout: 20_000 };
const SOON = { parkAfter: 3, redeliveryBaseMs: 20, redeliveryCapMs: 50, retryAfterSeconds: 1, waitMs: 300 };

describe.skipIf(rabbitmq.mayLack)('the inbox on a @RabbitSubscribe handler of golevelup', () => {
  let database: TestDatabase;
  let deadLetters: RabbitmqQueue;
  let queue: RabbitmqQueue;
  let transport: RabbitmqTransport;
  let consumer: ChildProgram;

  beforeAll(async () => {
    await npm('ci', '--no-audit', '--no-fund', '--loglevel=error');
    await npm('run', '--silent', 'build');
    database = await createTestDatabase();
    deadLetters = await openRabbitmqQueue();
    queue = await openRabbitmqQueue({ deadLetterExchange: deadLetters.name });
    transport = new RabbitmqTransport({ url: rabbitmq.url, exchange: queue.name });
    consumer = await consume();
  }, 180_000);

  afterAll(async () => {
    await transport.close();
    for (const own of [queue, deadLetters]) await own.close();
    await database.drop();
  });

  const start = (program: string, inbox: object = SOON): ChildProgram =>
    startChild(program, {
      env: { DATABASE: database.url, RABBITMQ: rabbitmq.url, QUEUE: queue.name, INBOX: JSON.stringify(inbox) },
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
  const failures = () =>
    database.query<{ message_id: string; attempts: number; is_parked: boolean; body: Buffer | null }>(
      'select message_id, attempts, parked_at is not null as is_parked, body from processed_events_failed order by id',
    );
  const failureOf = async ({ envelope }: Order) =>
    (await failures()).find(({ message_id }) => message_id === envelope.id);
  /** A session that has run this statement, until the test ends it. */
  const inSession = async (sql: string, values: readonly unknown[]): Promise<() => Promise<void>> => {
    const session = new pg.Client(database.url);
    session.on('error', () => undefined); // a test that failed before has the database dropped below it
    await session.connect();
    await session.query('begin');
    await session.query(sql, [...values]);
    return () => session.end();
  };
  /** Handlers wait for it before their commit. */
  const holdLock = (lock: number) => inSession('select pg_advisory_xact_lock($1)', [lock]);

  it('runs on the Nest 11 and the TypeORM 0.3 of its project', async () => {
    const [, nest, typeorm] = /with (\S+) and (\S+)/.exec(await consumer.waitForLine(/^consumes/)) ?? [];
    expect(versionOf(nest, '@nestjs/core')).toMatch(/^11\./);
    expect(versionOf(typeorm, 'typeorm')).toMatch(/^0\.3\./);
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
    expect([callsFor(event), await failureOf(event)]).toEqual([3, expect.objectContaining({ is_parked: false })]);
  });

  it('an event that its handler cannot process is parked after so many times, and comes no more until it is redriven', async () => {
    const event = order({ failures: 3 });
    await publish(event);
    await expect.poll(() => failureOf(event), PATIENT).toMatchObject({ attempts: 3, is_parked: true });
    const behind = order();
    await publish(behind);
    await expect.poll(() => effects(behind), PATIENT).toBe(1);
    expect([await effects(event), callsFor(event), await queue.waiting()]).toEqual([0, 3, 0]);
    process.kill(consumer.pid, 'SIGUSR2');
    expect(await consumer.waitForLine(/^redriven/)).toMatch(/"processed":\["\d+"\],"failed":\[\]/);
    expect([await effects(event), callsFor(event)]).toEqual([1, 4]);
  });

  it('an event that is being processed elsewhere is held, and applied when it comes again', async () => {
    const event = order();
    const giveUp = await inSession(
      "insert into processed_events (consumer_name, event_id, event_type, content_digest) values ('shipping', $1, 'order.placed', '')",
      [event.envelope.id],
    );
    await publish(event);
    await consumer.waitForLine(new RegExp(`put off.*${event.envelope.id}`));
    await giveUp();
    await consumer.waitForLine(new RegExp(`^called ${orderIdOf(event)} again`));
    await expect.poll(() => effects(event), PATIENT).toBe(1);
    expect(await failureOf(event)).toBeUndefined();
  });

  it('messages that are no event are parked at once with their bytes, also when they are no JSON', async () => {
    for (const body of ['{"neither":"event"}', 'no JSON']) {
      queue.channel.sendToQueue(queue.name, Buffer.from(body));
      await expect
        .poll(async () => (await failures()).map((failure) => [failure.is_parked, String(failure.body)]), PATIENT)
        .toContainEqual([true, body]);
    }
    await expect.poll(() => queue.waiting(), PATIENT).toBe(0);
  });

  it('an event that its handler rejects with a Nack is dead-lettered, and nothing of it is recorded', async () => {
    const event = order({ nack: 'reject' });
    await publish(event);
    await expect.poll(() => deadLetters.waiting(), PATIENT).toBe(1);
    expect([await effects(event), callsFor(event), await failureOf(event)]).toEqual([0, 1, undefined]);
    expect(await database.query('select 1 from processed_events where event_id = $1', [event.envelope.id])).toEqual([]);
  });

  it('an event that its handler gives back with a Nack has failed: it is counted, undone, and parked in the end', async () => {
    const event = order({ nack: 'requeue' });
    await publish(event);
    await expect.poll(() => failureOf(event), PATIENT).toMatchObject({ attempts: 3, is_parked: true });
    expect([await effects(event), callsFor(event)]).toEqual([0, 3]);
  });

  it('an event of a type that the handler does not take is passed over', async () => {
    const other = outgoingEvent({ type: 'order.paid', payload: { orderId: randomUUID() } });
    await publish(other);
    const behind = order();
    await publish(behind);
    await expect.poll(() => effects(behind), PATIENT).toBe(1);
    expect([callsFor(other), await failureOf(other)]).toEqual([0, undefined]);
  });

  it('an event whose consumer is killed before its commit is applied once by the next one', async () => {
    const event = order({ lock: 1 });
    const letGo = await holdLock(1);
    await publish(event);
    await consumer.waitForLine(new RegExp(`^called ${orderIdOf(event)}`));
    await consumer.kill('SIGKILL');
    await letGo();
    consumer = await consume();
    await consumer.waitForLine(new RegExp(`^called ${orderIdOf(event)} again`));
    await expect.poll(() => effects(event), PATIENT).toBe(1);
  });

  it('a consumer stops although it holds an event, which waits in its queue, and nothing but it', async () => {
    await consumer.kill('SIGTERM');
    expect(await queue.waiting()).toBe(0);
    consumer = await consume({ ...SOON, retryAfterSeconds: 3600 });
    const event = order({ lock: 2 });
    const letGo = await holdLock(2);
    await publish(event);
    await publish({ ...event, redrives: 1 });
    await consumer.waitForLine(new RegExp(`put off.*${event.envelope.id}`));
    await letGo();
    await expect.poll(() => effects(event), PATIENT).toBe(1);
    await consumer.kill('SIGTERM');
    expect(await queue.waiting()).toBe(1);
  });

  it('settings that would lose messages, or deliver one without end, are refused at the start', async () => {
    const child = start(UNSAFE_SETTINGS);
    expect(await child.exited).toBe(0);
    const answers = child.lines.map((line) => JSON.parse(line) as { name: string; refusal?: string });
    expect(Object.fromEntries(answers.map(({ name, refusal }) => [name, refusal]))).toEqual({
      rpc: expect.stringContaining('carries @RabbitRPC'),
      batches: expect.stringContaining('batchOptions'),
      noAck: expect.stringContaining('noAck'),
      errorBehavior: expect.stringContaining('REQUEUE'),
      errorHandler: expect.stringContaining('errorHandler'),
      'JSON only': expect.stringContaining('allowNonJsonMessages: true'),
      'errorBehavior of the connection': expect.stringContaining('REQUEUE'),
      'errorBehavior by name': expect.stringContaining('REQUEUE'),
      'nothing unsafe': undefined,
    });
  });
});

/** Of the package that this file belongs to, which must be one of the project. */
function versionOf(file = '', name: string): unknown {
  expect(file).toContain(`${PROJECT}/node_modules/${name}/`);
  const { version } = JSON.parse(readFileSync(`${PROJECT}/node_modules/${name}/package.json`, 'utf8'));
  return version;
}

async function npm(...args: readonly string[]): Promise<void> {
  const child = spawn('npm', ['--prefix', PROJECT, ...args], { stdio: ['ignore', 'ignore', 'inherit'] });
  const [status] = (await once(child, 'close')) as [number | null];
  if (status !== 0) throw new Error(`npm ${args.join(' ')} ended with ${status}`);
}
