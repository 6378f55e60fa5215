import type { Transport } from 'nestjs-transactional-outbox';
import type { TransportName } from 'sample-support';
import type { Environment } from '../environment.js';
import type { Destination } from './destination.js';

interface TransportFile {
  transportTo(destination: Destination, environment: Environment): Transport;
}

/** Loaded when they are chosen: an application needs no client library but that of its broker. */
const FILES: Readonly<Record<TransportName, () => Promise<TransportFile>>> = {
  http: () => import('./http.js'),
  redis: () => import('./redis.js'),
  rabbitmq: () => import('./rabbitmq.js'),
  kafka: () => import('./kafka.js'),
  nats: () => import('./nats.js'),
  sqs: () => import('./sqs.js'),
  'in-process': () => import('./in-process.js'),
};

export async function loadTransport(environment: Environment): Promise<(destination: Destination) => Transport> {
  const { transportTo } = await FILES[environment.TRANSPORT]();
  return (destination) => transportTo(destination, environment);
}
