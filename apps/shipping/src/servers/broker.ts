import type { TransportName } from 'sample-support';

/** The transports that a broker stands behind. */
export const BROKERS = ['redis', 'rabbitmq', 'kafka', 'nats', 'sqs'] as const satisfies TransportName[];

export type Broker = (typeof BROKERS)[number];

/** What a server has to know. */
export interface BrokerPlaces {
  readonly url: string;
  readonly prefix: string;
  /** One for each consumer: its stream, queue, topic or subject. */
  readonly places: readonly string[];
}
