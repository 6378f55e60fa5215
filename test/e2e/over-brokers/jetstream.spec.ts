import { randomUUID } from 'node:crypto';
import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { nats } from '../../support/brokers.js';
import { startTcpProxy } from '../../support/tcp-proxy.js';
import { cutConnections } from './cut-connections.js';
import { describeOver } from './scene.js';

describeOver('JetStream', {
  isSkipped: nats.mayLack,
  keepsOrder: false,
  async open() {
    const place = `test-${randomUUID()}`;
    const connection = await connect({ servers: nats.url });
    const manager = await jetstreamManager(connection);
    await manager.streams.add({ name: place, subjects: [`${place}.>`], storage: 'memory' });
    const proxy = await startTcpProxy(nats.url);
    return {
      choice: { kind: 'jetstream', url: proxy.through(nats.url), place },
      cut: () => cutConnections(proxy),
      async close() {
        await proxy.close();
        await manager.streams.delete(place);
        await connection.close();
      },
    };
  },
});
