import { randomBytes } from 'node:crypto';
import type { TransportName } from 'sample-support';
import type { Cleanup } from '../cleanup.js';
import type { Carrier, OpenBroker } from './broker.js';

/** Loaded when they are chosen, because client libraries take their time. */
const BROKERS: Readonly<Partial<Record<TransportName, () => Promise<OpenBroker>>>> = {
  redis: async () => (await import('./redis.js')).openRedis,
  rabbitmq: async () => (await import('./rabbitmq.js')).openRabbitmq,
  kafka: async () => (await import('./kafka.js')).openKafka,
  nats: async () => (await import('./nats.js')).openNats,
  sqs: async () => (await import('./sqs.js')).openSqs,
};

const WITHOUT_BROKER: Readonly<Partial<Record<TransportName, string>>> = {
  http: 'HTTP, signed',
  'in-process': 'in process: shipping and inventory are modules of the orders application, in its database',
};

/** @throws BrokerMissingError */
export async function openCarrier(transport: TransportName, cleanup: Cleanup): Promise<Carrier> {
  const load = BROKERS[transport];
  if (load === undefined) {
    return { description: WITHOUT_BROKER[transport] ?? transport, environment: { TRANSPORT: transport } };
  }
  const open = await load();
  // Several demos may run on one broker, beside what else is there.
  const prefix = `outbox-demo-${randomBytes(4).toString('hex')}`;
  const { description, environment } = await open(prefix, cleanup);
  return { description, environment: { TRANSPORT: transport, PLACE_PREFIX: prefix, ...environment } };
}
