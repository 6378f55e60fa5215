import type { Transport } from 'nestjs-transactional-outbox';
import { RedisStreamsTransport } from 'nestjs-transactional-outbox/redis-streams';
import { brokerUrlOf } from 'sample-support';
import type { Environment } from '../environment.js';
import { type Destination, placeOf, SOURCE } from './destination.js';

export function transportTo(destination: Destination, environment: Environment): Transport {
  const stream = placeOf(environment, destination);
  return new RedisStreamsTransport({ redis: brokerUrlOf(environment), stream: () => stream, source: SOURCE });
}
