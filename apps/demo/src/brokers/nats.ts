import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import type { Cleanup } from '../cleanup.js';
import { BrokerMissingError, type Carrier, hostOf, placesOf } from './broker.js';

/**
 * A stream for each destination: a stream drops what comes with an id that it has, and the copies of an event for two
 * destinations have the same one.
 */
export async function openNats(prefix: string, cleanup: Cleanup): Promise<Carrier> {
  const url = process.env.NATS_URL || 'nats://127.0.0.1:4222';
  const missing = (error: unknown): never => {
    throw new BrokerMissingError(
      'NATS with JetStream',
      hostOf(url),
      ['docker compose up -d nats', 'apt-get install nats-server && nats-server -js', 'NATS_URL=nats://host:4222'],
      error,
    );
  };
  const connection = await connect({ servers: url, reconnect: false }).catch(missing);
  await cleanup.add('the connection to NATS', () => connection.close());
  const manager = await jetstreamManager(connection).catch(missing); // fails where JetStream is off
  for (const place of placesOf(prefix)) {
    await manager.streams.add({ name: place, subjects: [place], storage: 'memory' });
    await cleanup.add(`the stream ${place} in NATS`, async () => void (await manager.streams.delete(place)));
  }
  return { description: `NATS JetStream, at ${hostOf(url)}`, environment: { BROKER_URL: url } };
}
