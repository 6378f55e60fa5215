import { connect } from 'node:net';
import { type Consumer, Kafka, type KafkaMessage, logLevel } from 'kafkajs';
import { KafkaTransport } from 'nestjs-transactional-outbox/kafka';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { HeldEvent } from '../../libs/outbox/src/testing/transport-contract/index.js';
import { outgoingEvent, publishOne } from '../integration/transport-events.js';
import { type KafkaCluster, mayLackKafka, startKafkaCluster } from '../support/kafka-cluster.js';
import { itKeepsTheContract } from './contract.js';
import { Arrivals, binaryEvent } from './held-events.js';

const TOPIC = 'outbox.event.order';
/** Key of the request in Kafka's protocol. */
const INIT_PRODUCER_ID = 22;
const FAST = { retry: { retries: 0 }, connectionTimeout: 1000, logLevel: logLevel.NOTHING };

describe.skipIf(mayLackKafka)('KafkaTransport', () => {
  const arrivals = new Arrivals<HeldEvent & { partition: number; key: string; timestamp: string }>();
  let cluster: KafkaCluster;
  let consumer: Consumer;
  beforeAll(async () => {
    cluster = await startKafkaCluster();
    const kafka = new Kafka({ brokers: cluster.brokers, logLevel: logLevel.NOTHING });
    const admin = kafka.admin();
    await admin.connect();
    await admin.fetchTopicMetadata({ topics: [TOPIC] }); // makes it
    await admin.disconnect();
    consumer = kafka.consumer({ groupId: 'test', maxWaitTimeInMs: 50 });
    const hasJoined = new Promise<void>((resolve) => consumer.on('consumer.group_join', () => resolve()));
    await consumer.connect();
    await consumer.subscribe({ topic: TOPIC, fromBeginning: true });
    await consumer.run({
      eachMessage: async ({ message, partition }) =>
        arrivals.add({
          ...toHeldEvent(message),
          partition,
          key: String(message.key),
          timestamp: message.timestamp,
        }),
    });
    await hasJoined;
  });
  afterAll(async () => {
    await consumer.disconnect();
    await cluster.close();
  });

  const open = (): KafkaTransport =>
    new KafkaTransport({ kafka: { brokers: cluster.brokers }, maxMessageBytes: 100_000 });

  itKeepsTheContract(
    {
      open: () => (cluster === undefined ? new KafkaTransport({ kafka: { brokers: ['127.0.0.1:1'] } }) : open()),
      openUnreachable: () => new KafkaTransport({ kafka: { brokers: ['127.0.0.1:1'], ...FAST } }),
      spoil: (event) => ({ ...event, envelope: { ...event.envelope, payload: 'x'.repeat(100_000) } }),
    },
    async (count) => (await arrivals.take(count)).map(({ partition: _, key: __, timestamp: ___, ...event }) => event),
  );

  it('asks for an idempotent producer, and each record has the time of its event', async () => {
    const asked = new Set<number>();
    const transport = new KafkaTransport({
      kafka: {
        brokers: cluster.brokers,
        socketFactory: ({ host, port, onConnect }) => {
          const socket = connect({ host, port }, onConnect);
          const write = socket.write.bind(socket) as (...packet: readonly unknown[]) => boolean; // one of its overloads
          socket.write = (...packet: readonly unknown[]) => {
            // Of each request: four bytes of length, then two that say what it asks for.
            if (Buffer.isBuffer(packet[0])) asked.add(packet[0].readInt16BE(4));
            return write(...packet);
          };
          return socket;
        },
      },
    });
    const event = outgoingEvent();
    expect(await publishOne(transport, event)).toEqual({ kind: 'delivered' });
    await transport.close();
    expect(asked).toContain(INIT_PRODUCER_ID);
    expect((await arrivals.take(1)).map(({ timestamp }) => timestamp)).toEqual([
      String(event.envelope.createdAt.getTime()),
    ]);
  });

  it('all events of an aggregate are in one partition, under its id as key', async () => {
    const transport = open();
    const ids = Array.from({ length: 20 }, (_, index) => `order-${index}`);
    const batch = ids.flatMap((aggregateId) => [1n, 2n].map((sequence) => outgoingEvent({ aggregateId, sequence })));
    const outcomes = await transport.publish(batch, AbortSignal.timeout(10_000));
    await transport.close();
    expect(new Set(outcomes.map(({ kind }) => kind))).toEqual(new Set(['delivered']));
    const taken = await arrivals.take(batch.length);
    for (const id of ids) {
      const own = taken.filter(({ aggregateId }) => aggregateId === id);
      expect(own.map(({ sequence, key }) => [sequence, key])).toEqual([
        [1n, id],
        [2n, id],
      ]);
      expect(new Set(own.map(({ partition }) => partition)).size).toBe(1);
    }
    expect(new Set(taken.map(({ partition }) => partition)).size).toBeGreaterThan(1);
  });
});

describe('the options of KafkaTransport', () => {
  it.each([
    [{ kafka: undefined }, /"kafka" must have "brokers"/],
    [{ kafka: {} }, /"kafka" must have "brokers"/],
    [{ kafka: { brokers: ['a:1'] }, maxMessageBytes: -1 }, /"maxMessageBytes" is -1/],
  ])('%j is refused', (options, message) => {
    expect(() => new KafkaTransport(options as never)).toThrow(message);
  });
});

function toHeldEvent({ headers = {}, value }: KafkaMessage): HeldEvent {
  const entries = Object.entries(headers).map(([name, header]) => [name, String(header)] as const);
  const contentType = entries.find(([name]) => name === 'content-type')?.[1];
  return binaryEvent(entries, 'ce_', contentType, value?.toString() ?? '');
}
