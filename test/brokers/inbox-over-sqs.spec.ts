import { CreateQueueCommand, GetQueueAttributesCommand, SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { type FauxqsServer, startFauxqs } from 'fauxqs';
import { SqsTransport } from 'nestjs-transactional-outbox/sqs';
import { SqsServer } from 'nestjs-transactional-outbox/sqs/server';
import { describe, expect, it } from 'vitest';
import { publishOne } from '../integration/transport-events.js';
import { describeInboxOver } from './inbox-over-brokers.js';

const ACCOUNT = { region: 'eu-central-1', credentials: { accessKeyId: 'test', secretAccessKey: 'test' } };
let server: FauxqsServer;
let client: SQSClient;
let queueUrl: string;
let transport: SqsTransport;

describeInboxOver(
  'SQS',
  {
    redelivers: true,
    async open() {
      server = await startFauxqs({ port: 0, host: 'localhost', logger: false });
      const sqs = { ...ACCOUNT, endpoint: `http://localhost:${server.port}` };
      client = new SQSClient(sqs);
      queueUrl = (await client.send(new CreateQueueCommand({ QueueName: 'orders' }))).QueueUrl ?? '';
      transport = new SqsTransport({ queueUrl, sqs });
      return { strategy: new SqsServer({ queueUrl, sqs, waitSeconds: 1 }) };
    },
    async publish(event) {
      const outcome = await publishOne(transport, event);
      if (outcome.kind !== 'delivered') throw new Error(JSON.stringify(outcome));
    },
    async publishRaw(body) {
      await client.send(new SendMessageCommand({ QueueUrl: queueUrl, MessageBody: body.toString() }));
    },
    async unaccepted() {
      const { Attributes = {} } = await client.send(
        new GetQueueAttributesCommand({ QueueUrl: queueUrl, AttributeNames: ['All'] }),
      );
      return Number(Attributes.ApproximateNumberOfMessages) + Number(Attributes.ApproximateNumberOfMessagesNotVisible);
    },
    async close() {
      await transport.close();
      client.destroy();
      await server.stop();
    },
  },
  false,
);

describe('the options of SqsServer', () => {
  it.each([
    [{ queueUrl: 'orders' }, /SqsServer: "queueUrl"/],
    [{ queueUrl: 'http://localhost/0/orders', visibilitySeconds: 50_000 }, /"visibilitySeconds" is 50000/],
  ])('%j is refused', (options, message) => {
    expect(() => new SqsServer(options)).toThrow(message);
  });
});
