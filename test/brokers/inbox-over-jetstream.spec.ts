import { randomUUID } from 'node:crypto';
import { type JetStreamManager, jetstream, jetstreamManager } from '@nats-io/jetstream';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { NatsTransport } from 'nestjs-transactional-outbox/nats';
import { JetStreamServer } from 'nestjs-transactional-outbox/nats/server';
import { describe, expect, it } from 'vitest';
import { publishOne } from '../integration/transport-events.js';
import { nats } from '../support/brokers.js';
import { describeInboxOver } from './inbox-over-brokers.js';
import { startInboxMicroservice } from './inbox-service.js';

const name = `test-${randomUUID()}`;
let connection: NatsConnection;
let manager: JetStreamManager;
let transport: NatsTransport;

describeInboxOver(
  'JetStream',
  {
    redelivers: true,
    async open() {
      connection = await connect({ servers: nats.url });
      manager = await jetstreamManager(connection);
      await manager.streams.add({ name, subjects: [`${name}.>`], storage: 'memory' });
      transport = new NatsTransport({ nats: nats.url, subject: () => `${name}.order` });
      return { strategy: new JetStreamServer({ nats: nats.url, stream: name, durable: 'shipping' }) };
    },
    async publish(event) {
      const outcome = await publishOne(transport, event);
      if (outcome.kind !== 'delivered') throw new Error(JSON.stringify(outcome));
    },
    async publishRaw(body) {
      await jetstream(connection).publish(`${name}.order`, body);
    },
    async unaccepted() {
      const info = await manager.consumers.info(name, 'shipping');
      return info.num_pending + info.num_ack_pending;
    },
    async close() {
      await transport.close();
      await manager.streams.delete(name);
      await connection.close();
    },
  },
  nats.mayLack,
);

describe.skipIf(nats.mayLack)('JetStreamServer', () => {
  it('a stream that is not there stops the start', async () => {
    const strategy = new JetStreamServer({ nats: nats.url, stream: 'nowhere', durable: 'shipping' });
    await expect(startInboxMicroservice({ strategy })).rejects.toThrow(/stream not found/);
  });

  it.each([
    [{ stream: '', durable: 'd' }, /must be names/],
    [{ stream: 's', durable: 'd', ackWaitMs: 1 }, /"ackWaitMs" is 1/],
  ])('%j is refused', (options, message) => {
    expect(() => new JetStreamServer({ nats: nats.url, ...options })).toThrow(message);
  });
});
