import { type MicroserviceOptions, Transport } from '@nestjs/microservices';
import type { BrokerPlaces } from './broker.js';

/** One server, which Nest lets read the topics of all handlers. */
export function serversFor({ url, prefix }: BrokerPlaces): MicroserviceOptions[] {
  return [
    {
      transport: Transport.KAFKA,
      options: {
        client: { brokers: url.split(','), clientId: 'shipping' },
        consumer: {
          groupId: prefix,
          maxWaitTimeInMs: 100,
          // Who ended without a word is missed after so long; until then nobody else reads what was his.
          sessionTimeout: 6000,
          heartbeatInterval: 500,
          rebalanceTimeout: 3000,
        },
        subscribe: { fromBeginning: true },
        run: { autoCommit: false },
      },
    },
  ];
}
