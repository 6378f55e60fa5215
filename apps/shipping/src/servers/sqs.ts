import type { MicroserviceOptions } from '@nestjs/microservices';
import { SqsServer } from 'nestjs-transactional-outbox/sqs/server';
import type { BrokerPlaces } from './broker.js';

/**
 * A poll that a consumer leaves behind may still be given a message; short ones, and a short visibility, bring it to the
 * next consumer soon.
 */
const TIMES = { waitSeconds: 1, visibilitySeconds: 10 };

/** Region, account and another endpoint than Amazon's are read from the variables of the AWS SDK (`AWS_REGION`, …). */
export function serversFor({ url, places }: BrokerPlaces): MicroserviceOptions[] {
  return places.map((queue) => ({
    strategy: new SqsServer({ queueUrl: `${url}/${queue}`, sqs: { useQueueUrlAsEndpoint: false }, ...TIMES }),
  }));
}
