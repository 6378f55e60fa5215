import { CreateQueueCommand, DeleteQueueCommand, SQSClient } from '@aws-sdk/client-sqs';
import { startFauxqs } from 'fauxqs';
import type { Cleanup } from '../cleanup.js';
import { BrokerMissingError, type Carrier, hostOf, placesOf } from './broker.js';

const HOW_TO_START = ['without SQS_ENDPOINT, the demo starts fauxqs by itself', 'SQS_ENDPOINT=http://host:port'];

/** FIFO queues at the endpoint that SQS_ENDPOINT names, or in a fauxqs inside of this process. */
export async function openSqs(prefix: string, cleanup: Cleanup): Promise<Carrier> {
  const given = process.env.SQS_ENDPOINT;
  const endpoint = given || (await startEmulator(cleanup));
  // Those of the AWS SDK, for all processes: an emulator takes any.
  const account = {
    AWS_REGION: process.env.AWS_REGION || 'eu-central-1',
    AWS_ACCESS_KEY_ID: process.env.AWS_ACCESS_KEY_ID || 'demo',
    AWS_SECRET_ACCESS_KEY: process.env.AWS_SECRET_ACCESS_KEY || 'demo',
  };
  const client = new SQSClient({
    endpoint,
    region: account.AWS_REGION,
    credentials: { accessKeyId: account.AWS_ACCESS_KEY_ID, secretAccessKey: account.AWS_SECRET_ACCESS_KEY },
    useQueueUrlAsEndpoint: false,
    maxAttempts: 1,
  });
  await cleanup.add('the client of SQS', async () => client.destroy());
  let queues = '';
  for (const place of placesOf(prefix)) {
    const queueUrl = await createQueue(client, `${place}.fifo`, hostOf(endpoint));
    await cleanup.add(
      `the queue ${place} in SQS`,
      async () => void (await client.send(new DeleteQueueCommand({ QueueUrl: queueUrl }))),
    );
    queues = queueUrl.slice(0, queueUrl.lastIndexOf('/'));
  }
  return {
    description: `SQS with FIFO queues, ${given ? `at ${hostOf(given)}` : `fauxqs, started at ${hostOf(endpoint)}`}`,
    environment: { BROKER_URL: queues, AWS_ENDPOINT_URL_SQS: endpoint, ...account },
  };
}

async function createQueue(client: SQSClient, name: string, host: string): Promise<string> {
  const command = new CreateQueueCommand({ QueueName: name, Attributes: { FifoQueue: 'true' } });
  try {
    return (await client.send(command)).QueueUrl ?? '';
  } catch (error) {
    throw new BrokerMissingError('SQS', host, HOW_TO_START, error);
  }
}

async function startEmulator(cleanup: Cleanup): Promise<string> {
  const server = await startFauxqs({ port: 0, host: 'localhost', logger: false });
  await cleanup.add('fauxqs', () => server.stop());
  return `http://localhost:${server.port}`;
}
