import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { mayLackNatsServer, startNatsServer } from '../../support/nats-server.js';
import { describeOver } from './scene.js';

const PLACE = 'orders';

describeOver('JetStream', {
  isSkipped: mayLackNatsServer,
  keepsOrder: false,
  async open() {
    const server = await startNatsServer();
    const connection = await connect({ servers: server.url });
    const manager = await jetstreamManager(connection);
    await manager.streams.add({ name: PLACE, subjects: [`${PLACE}.>`], storage: 'file' });
    await connection.close();
    return {
      choice: { kind: 'jetstream', url: server.url, place: PLACE },
      interrupt: () => server.restart(),
      close: () => server.stop(),
    };
  },
});
