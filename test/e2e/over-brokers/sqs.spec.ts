import { CreateQueueCommand, SQSClient } from '@aws-sdk/client-sqs';
import { startFauxqs } from 'fauxqs';
import { ACCOUNT } from '../../processes/broker-choice.js';
import { startTcpProxy } from '../../support/tcp-proxy.js';
import { cutConnections } from './cut-connections.js';
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
    const proxy = await startTcpProxy(url);
    return {
      choice: { kind: 'sqs', url: proxy.through(url), place: created.QueueUrl ?? '' },
      // The server has all that it holds in memory, and would start again without it.
      interrupt: () => cutConnections(proxy),
      async close() {
        await proxy.close();
        await server.stop();
      },
    };
  },
});
