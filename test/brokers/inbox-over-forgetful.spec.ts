import { type ClientProxy, ClientProxyFactory, type MicroserviceOptions, Transport } from '@nestjs/microservices';
import { ClientProxyTransport } from 'nestjs-transactional-outbox/client-proxy';
import { lastValueFrom } from 'rxjs';
import { findFreePort } from '../../libs/embedded-postgres/src/free-port.js';
import { publishOne } from '../integration/transport-events.js';
import { nats, redis } from '../support/brokers.js';
import { type BrokerUnderTest, describeInboxOver } from './inbox-over-brokers.js';

const address = new URL(redis.url);

describeInboxOver(
  'TCP',
  forgetful(async () => ({ transport: Transport.TCP, options: { port: await findFreePort() } })),
  false,
);
describeInboxOver(
  'NATS (subjects)',
  forgetful(async () => ({ transport: Transport.NATS, options: { servers: [nats.url] } })),
  nats.mayLack,
);
describeInboxOver(
  'Redis (channels)',
  forgetful(async () => ({
    transport: Transport.REDIS,
    options: { host: address.hostname, port: Number(address.port) },
  })),
  redis.mayLack,
);

/** Whoever listens at the moment is told, and nobody is told twice. */
function forgetful(optionsOf: () => Promise<MicroserviceOptions>): BrokerUnderTest {
  let client: ClientProxy;
  let transport: ClientProxyTransport;
  return {
    redelivers: false,
    async open() {
      const options = await optionsOf();
      client = ClientProxyFactory.create(options as Parameters<typeof ClientProxyFactory.create>[0]);
      transport = new ClientProxyTransport({ client });
      return options;
    },
    async publish(event) {
      const outcome = await publishOne(transport, event);
      if (outcome.kind !== 'delivered') throw new Error(JSON.stringify(outcome));
    },
    async publishRaw(body) {
      const { pattern, data } = JSON.parse(body.toString()) as { pattern: string; data: unknown };
      await lastValueFrom(client.emit(pattern, data), { defaultValue: undefined });
    },
    async close() {
      await transport.close();
      client.close();
    },
  };
}
