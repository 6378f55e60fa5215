import type { MicroserviceOptions } from '@nestjs/microservices';
import { JetStreamServer } from 'nestjs-transactional-outbox/nats/server';
import type { BrokerPlaces } from './broker.js';

export function serversFor({ url, places }: BrokerPlaces): MicroserviceOptions[] {
  return places.map((place) => ({
    strategy: new JetStreamServer({ nats: url, stream: place, durable: place }),
  }));
}
