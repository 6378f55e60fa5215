import { CreateQueueCommand, DeleteMessageBatchCommand, ReceiveMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { type FauxqsServer, startFauxqs } from 'fauxqs';
import { SqsTransport } from 'nestjs-transactional-outbox/sqs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { HeldEvent } from '../../libs/outbox/src/testing/transport-contract/index.js';
import { outgoingEvent, publishOne } from '../integration/transport-events.js';
import { itKeepsTheContract } from './contract.js';
import { structuredEvent } from './held-events.js';

const ACCOUNT = { region: 'eu-central-1', credentials: { accessKeyId: 'test', secretAccessKey: 'test' } };

describe('SqsTransport', () => {
  let server: FauxqsServer;
  let client: SQSClient;
  const urls = new Map<string, string>();
  beforeAll(async () => {
    server = await startFauxqs({ port: 0, host: 'localhost', logger: false });
    client = new SQSClient({ ...ACCOUNT, endpoint: addressOf(server) });
    for (const [name, attributes] of [
      ['plain', undefined],
      ['ordered.fifo', { FifoQueue: 'true' }],
    ] as const) {
      const { QueueUrl } = await client.send(new CreateQueueCommand({ QueueName: name, Attributes: attributes }));
      urls.set(name, QueueUrl ?? '');
    }
  });
  afterAll(async () => {
    client.destroy();
    await server.stop();
  });

  const open = (queue: string): SqsTransport =>
    new SqsTransport({
      queueUrl: urls.get(queue) ?? `http://127.0.0.1:1/000000000000/${queue}`,
      sqs: { ...ACCOUNT, endpoint: server === undefined ? 'http://127.0.0.1:1' : addressOf(server) },
    });
  const take = async (queue: string, count: number): Promise<HeldEvent[]> => {
    const events: HeldEvent[] = [];
    const deadline = performance.now() + 10_000;
    for (let isEmpty = false; !isEmpty || events.length < count; ) {
      if (performance.now() > deadline) throw new Error(`${events.length} of ${count} events came`);
      const received = await client.send(
        new ReceiveMessageCommand({ QueueUrl: urls.get(queue), MaxNumberOfMessages: 10, WaitTimeSeconds: 0 }),
      );
      const messages = received.Messages ?? [];
      isEmpty = messages.length === 0;
      events.push(...messages.map(({ Body }) => structuredEvent(Body ?? '')));
      if (isEmpty) continue;
      const Entries = messages.map(({ ReceiptHandle }, index) => ({ Id: String(index), ReceiptHandle }));
      await client.send(new DeleteMessageBatchCommand({ QueueUrl: urls.get(queue), Entries }));
    }
    return events;
  };

  describe.each(['plain', 'ordered.fifo'])('to the queue %s', (queue) => {
    itKeepsTheContract(
      {
        open: () => open(queue),
        openUnreachable: () =>
          new SqsTransport({
            queueUrl: `http://127.0.0.1:1/000000000000/${queue}`,
            sqs: { ...ACCOUNT, endpoint: 'http://127.0.0.1:1', maxAttempts: 1 },
          }),
        spoil: (event) => ({ ...event, envelope: { ...event.envelope, payload: 'x'.repeat(1_048_576) } }),
      },
      (count) => take(queue, count),
    );
  });

  it('takes more than ten events, and more than one request holds', async () => {
    const transport = open('plain');
    const batch = Array.from({ length: 25 }, () => outgoingEvent({ payload: 'x'.repeat(200_000) }));
    const outcomes = await transport.publish(batch, AbortSignal.timeout(10_000));
    await transport.close();
    expect(outcomes.filter(({ kind }) => kind === 'delivered')).toHaveLength(25);
    expect(await take('plain', 25)).toHaveLength(25);
  });

  it('a queue that is not there makes the destination unreachable', async () => {
    const transport = new SqsTransport({
      queueUrl: `${addressOf(server)}/000000000000/missing`,
      sqs: { ...ACCOUNT, endpoint: addressOf(server) },
    });
    expect(await publishOne(transport)).toMatchObject({
      kind: 'unreachable',
      error: expect.stringContaining('QueueDoesNotExist'),
    });
    await transport.close();
  });

  it('events of an aggregate whose id is no id of a group stay in order', async () => {
    const transport = open('ordered.fifo');
    const aggregateId = 'Müller & Söhne '.repeat(15);
    for (const sequence of [1n, 2n, 3n]) {
      expect(await publishOne(transport, outgoingEvent({ aggregateId, sequence }))).toEqual({ kind: 'delivered' });
    }
    await transport.close();
    expect((await take('ordered.fifo', 3)).map(({ sequence }) => sequence)).toEqual([1n, 2n, 3n]);
  });
});

describe('the options of SqsTransport', () => {
  it.each([[{ queueUrl: 'orders' }], [{}]])('%j is refused', (options) => {
    expect(() => new SqsTransport(options as never)).toThrow(/"queueUrl" must be the URL/);
  });
});

function addressOf(server: FauxqsServer): string {
  return `http://localhost:${server.port}`;
}
