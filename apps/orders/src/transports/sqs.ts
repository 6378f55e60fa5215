import type { Transport } from 'nestjs-transactional-outbox';
import { SqsTransport } from 'nestjs-transactional-outbox/sqs';
import { brokerUrlOf } from 'sample-support';
import type { Environment } from '../environment.js';
import { type Destination, placeOf, SOURCE } from './destination.js';

/** Region, account and another endpoint than Amazon's are read from the variables of the AWS SDK (`AWS_REGION`, …). */
export function transportTo(destination: Destination, environment: Environment): Transport {
  return new SqsTransport({
    queueUrl: `${brokerUrlOf(environment)}/${placeOf(environment, destination)}.fifo`,
    sqs: { useQueueUrlAsEndpoint: false },
    source: SOURCE,
  });
}
