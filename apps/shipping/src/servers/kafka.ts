import { type MicroserviceOptions, Transport } from '@nestjs/microservices';
import type { BrokerPlaces } from './broker.js';

/** One server, which Nest lets read the topics of all handlers. */
export function serversFor({ url, prefix }: BrokerPlaces): MicroserviceOptions[] {
  return [
    {
      transport: Transport.KAFKA,
      options: {
        client: { brokers: url.split(','), clientId: 'shipping' },
        consumer: { groupId: prefix, maxWaitTimeInMs: 100 },
        subscribe: { fromBeginning: true },
        run: { autoCommit: false },
      },
    },
  ];
}
