import type { Transport } from 'nestjs-transactional-outbox';
import { RabbitmqTransport } from 'nestjs-transactional-outbox/rabbitmq';
import { brokerUrlOf } from 'sample-support';
import type { Environment } from '../environment.js';
import { type Destination, placeOf, SOURCE } from './destination.js';

/** The queue stands before the first event comes, so that none is lost when no consumer has ever run. */
export function transportTo(destination: Destination, environment: Environment): Transport {
  const exchange = environment.PLACE_PREFIX;
  const queue = placeOf(environment, destination);
  return new RabbitmqTransport({
    url: brokerUrlOf(environment),
    exchange,
    routingKey: () => queue,
    topology: async (channel) => {
      await channel.assertExchange(exchange, 'direct');
      await channel.assertQueue(queue);
      await channel.bindQueue(queue, exchange, queue);
    },
    source: SOURCE,
  });
}
