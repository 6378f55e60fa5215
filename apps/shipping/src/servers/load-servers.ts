import type { MicroserviceOptions } from '@nestjs/microservices';
import { brokerUrlOf } from 'sample-support';
import { CONSUMERS } from '../consumers.js';
import type { Environment } from '../environment.js';
import type { Broker, BrokerPlaces } from './broker.js';

interface ServerFile {
  serversFor(places: BrokerPlaces): MicroserviceOptions[];
}

/** Loaded when they are chosen: an application needs no client library but that of its broker. */
const FILES: Readonly<Record<Broker, () => Promise<ServerFile>>> = {
  redis: () => import('./redis.js'),
  rabbitmq: () => import('./rabbitmq.js'),
  kafka: () => import('./kafka.js'),
  nats: () => import('./nats.js'),
  sqs: () => import('./sqs.js'),
};

/** The servers that bring both consumers their events; none where these come over HTTP. */
export async function loadServers(environment: Environment): Promise<MicroserviceOptions[]> {
  const { TRANSPORT, PLACE_PREFIX } = environment;
  if (TRANSPORT === 'http') return [];
  const { serversFor } = await FILES[TRANSPORT]();
  const places = CONSUMERS.map((consumer) => placeOf(environment, consumer));
  return serversFor({ url: brokerUrlOf(environment), prefix: PLACE_PREFIX, places });
}

/** Where the events for a consumer are. The pattern of its handler, too: both consumers take the same types. */
export function placeOf({ TRANSPORT, PLACE_PREFIX }: Environment, consumer: string): string {
  const place = `${PLACE_PREFIX}-${consumer}`;
  return TRANSPORT === 'sqs' ? `${place}.fifo` : place;
}
