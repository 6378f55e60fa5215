import { CreateQueueCommand, SQSClient } from '@aws-sdk/client-sqs';
import { startFauxqs } from 'fauxqs';
import { ACCOUNT } from '../../processes/broker-choice.js';
import { describeOver } from './scene.js';

describeOver('SQS, a FIFO queue', {
  isSkipped: false,
  keepsOrder: true,
  async open() {
    const server = await startFauxqs({ port: 0, host: 'localhost', logger: false });
    const url = `http://localhost:${server.port}`;
    const client = new SQSClient({ ...ACCOUNT, endpoint: url });
    const created = await client.send(
      new CreateQueueCommand({ QueueName: 'orders.fifo', Attributes: { FifoQueue: 'true' } }),
    );
    client.destroy();
    return {
      choice: { kind: 'sqs', url, place: created.QueueUrl ?? '' },
      close: () => server.stop(),
    };
  },
});
