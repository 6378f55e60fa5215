import { type MicroserviceOptions, Transport } from '@nestjs/microservices';
import type { BrokerPlaces } from './broker.js';

/** One message at a time, so that the events of an order are processed in their order. */
export function serversFor({ url, places }: BrokerPlaces): MicroserviceOptions[] {
  return places.map((queue) => ({
    transport: Transport.RMQ,
    options: {
      urls: [url],
      queue,
      noAck: false,
      prefetchCount: 1,
      // Two consumers take the same types, each from a queue of its own: it is the queue that tells them apart.
      deserializer: { deserialize: (data: unknown) => ({ pattern: queue, data }) },
    },
  }));
}
