import type { Transport } from 'nestjs-transactional-outbox';
import { NatsTransport } from 'nestjs-transactional-outbox/nats';
import { brokerUrlOf } from 'sample-support';
import type { Environment } from '../environment.js';
import { type Destination, placeOf, SOURCE } from './destination.js';

/**
 * A stream has to take the subject, and one that takes no other destination's: it would drop their copies of an event as
 * second ones. `nats stream add orders-shipping --subjects orders-shipping`
 */
export function transportTo(destination: Destination, environment: Environment): Transport {
  const subject = placeOf(environment, destination);
  return new NatsTransport({ nats: brokerUrlOf(environment), subject: () => subject, source: SOURCE });
}
