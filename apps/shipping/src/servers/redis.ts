import type { MicroserviceOptions } from '@nestjs/microservices';
import { RedisStreamsServer } from 'nestjs-transactional-outbox/redis-streams/server';
import type { BrokerPlaces } from './broker.js';

export function serversFor({ url, places }: BrokerPlaces): MicroserviceOptions[] {
  return places.map((place) => ({ strategy: new RedisStreamsServer({ redis: url, streams: [place], group: place }) }));
}
