import { randomUUID } from 'node:crypto';
import { type JetStreamManager, jetstream, jetstreamManager } from '@nats-io/jetstream';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { NatsTransport } from 'nestjs-transactional-outbox/nats';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { decodeHeaderValue } from '../../libs/outbox/src/inbox/cloud-event/prefixed-attributes.js';
import type { HeldEvent } from '../../libs/outbox/src/testing/transport-contract/index.js';
import { outgoingEvent, publishOne } from '../integration/transport-events.js';
import { nats } from '../support/brokers.js';
import { startTcpProxy } from '../support/tcp-proxy.js';
import { itGoesOnAfterACut, itKeepsTheContract } from './contract.js';
import { Arrivals, binaryEvent } from './held-events.js';

const NOWHERE = 'nats://127.0.0.1:1';
const MAX_MESSAGE_BYTES = 100_000;

describe.skipIf(nats.mayLack)('NatsTransport', () => {
  const name = `test-${randomUUID()}`;
  const options = { nats: nats.url, subject: () => `${name}.order`, ackTimeoutMs: 3000 };
  const arrivals = new Arrivals<HeldEvent>();
  let connection: NatsConnection;
  let manager: JetStreamManager;
  beforeAll(async () => {
    connection = await connect({ servers: nats.url });
    manager = await jetstreamManager(connection);
    await manager.streams.add({
      name,
      subjects: [`${name}.>`],
      storage: 'memory',
      duplicate_window: 60_000_000_000,
      max_msg_size: MAX_MESSAGE_BYTES,
    });
    const consumer = await jetstream(connection).consumers.get(name);
    void consumer.consume({
      callback: ({ headers, data }) => {
        const entries = [...(headers?.keys() ?? [])].map(
          (key) => [key, decodeHeaderValue(key, headers?.get(key) ?? '')] as const,
        );
        arrivals.add(binaryEvent(entries, 'ce-', headers?.get('content-type'), Buffer.from(data).toString()));
      },
    });
  });
  afterAll(async () => {
    await manager.streams.delete(name);
    await connection.close();
  });

  itKeepsTheContract(
    {
      open: () =>
        new NatsTransport({
          ...options,
          subject: ({ envelope }) => (envelope.type === 'nobody.listens' ? `nobody-${name}` : `${name}.order`),
        }),
      openUnreachable: () => new NatsTransport({ nats: NOWHERE }),
      misroute: (event) => ({ ...event, envelope: { ...event.envelope, type: 'nobody.listens' } }),
      spoil: (event) => ({ ...event, envelope: { ...event.envelope, payload: 'x'.repeat(MAX_MESSAGE_BYTES) } }),
    },
    (count) => arrivals.take(count),
  );

  it('a second copy counts as delivered and is told to be a duplicate', async () => {
    const transport = new NatsTransport(options);
    const event = outgoingEvent();
    expect(await publishOne(transport, event)).toEqual({ kind: 'delivered' });
    expect(await publishOne(transport, { ...event, attempt: 2 })).toEqual({ kind: 'delivered', duplicate: true });
    expect(await publishOne(transport, { ...event, redrives: 1 })).toEqual({ kind: 'delivered' });
    expect(await publishOne(transport, { ...event, redrives: 1, attempt: 2 })).toEqual({
      kind: 'delivered',
      duplicate: true,
    });
    await transport.close();
    expect((await arrivals.take(2)).map(({ id }) => id)).toEqual([event.envelope.id, event.envelope.id]);
  });

  it('an event larger than the server takes is dead, and so is one with a subject that is none', async () => {
    const transport = new NatsTransport({ ...options, subject: ({ envelope }) => envelope.type });
    const large = outgoingEvent({ payload: 'x'.repeat(2_000_000) });
    expect(await publishOne(transport, large)).toMatchObject({ kind: 'dead' });
    expect(await publishOne(transport, outgoingEvent({ type: 'with space' }))).toMatchObject({ kind: 'dead' });
    await transport.close();
  });

  it('an acknowledgement that does not come in time makes it go on over another connection', async () => {
    const proxy = await startTcpProxy(nats.url);
    const transport = new NatsTransport({ ...options, nats: proxy.through(nats.url), ackTimeoutMs: 200 });
    expect(await publishOne(transport)).toEqual({ kind: 'delivered' });
    proxy.swallow(/^/);
    const event = outgoingEvent();
    expect(await publishOne(transport, event)).toMatchObject({
      kind: 'retry',
      error: expect.stringContaining('may have'),
    });
    expect(await publishOne(transport, event)).toEqual({ kind: 'delivered' });
    await arrivals.take(2);
    await transport.close();
    await proxy.close();
  });

  itGoesOnAfterACut(
    nats.url,
    (url) => new NatsTransport({ ...options, nats: url }),
    (count) => arrivals.take(count),
  );
});

describe('the options of NatsTransport', () => {
  it.each([
    [{ nats: undefined }, /"nats" must be/],
    [{ nats: NOWHERE, ackTimeoutMs: 0 }, /"ackTimeoutMs" is 0/],
  ])('%j is refused', (options, message) => {
    expect(() => new NatsTransport(options as never)).toThrow(message);
  });
});
