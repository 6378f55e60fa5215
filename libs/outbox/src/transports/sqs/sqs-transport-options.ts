import { SQSClient, type SQSClientConfig } from '@aws-sdk/client-sqs';
import { ConfigurationError } from '../../errors/index.js';
import { requireSource } from '../source.js';
import type { OutgoingEvent } from '../transport.js';

export interface SqsTransportOptions {
  /** URL of the queue. One that ends in `.fifo` is a FIFO queue: it keeps the order of each group and drops duplicates. */
  readonly queueUrl: string;
  /** Options of `SQSClient`, or one of your own, which the transport then leaves open. Default: those of the environment. */
  readonly sqs?: SQSClientConfig | SQSClient;
  /**
   * FIFO queues only: within which events keep their order. Default: the aggregate. 1 to 128 characters; another text is
   * hashed.
   */
  readonly groupId?: (event: OutgoingEvent) => string;
  /** CloudEvents `source`: a URI reference of the producing application; default `/nestjs-transactional-outbox`. */
  readonly source?: string;
}

export interface ResolvedSqsOptions {
  readonly queueUrl: string;
  readonly isFifo: boolean;
  readonly createClient: () => SQSClient;
  readonly closesClient: boolean;
  readonly groupId: (event: OutgoingEvent) => string;
  readonly source: string;
}

/** @throws ConfigurationError */
export function resolveSqsOptions(user: string, options: SqsTransportOptions): ResolvedSqsOptions {
  const { queueUrl, sqs = {} } = options;
  if (typeof queueUrl !== 'string' || !URL.canParse(queueUrl)) {
    throw new ConfigurationError(
      `${user}: "queueUrl" must be the URL of a queue, for example "https://sqs.eu-central-1.amazonaws.com/123456789012/orders.fifo".`,
    );
  }
  const isOwn = !isClient(sqs);
  return {
    queueUrl,
    isFifo: queueUrl.endsWith('.fifo'),
    // The dispatcher tries again by itself, with a delay that is written down.
    createClient: () => (isOwn ? new SQSClient({ maxAttempts: 1, ...sqs }) : sqs),
    closesClient: isOwn,
    groupId: options.groupId ?? (({ envelope }) => `${envelope.aggregateType}:${envelope.aggregateId}`),
    source: requireSource(user, options.source),
  };
}

function isClient(sqs: SQSClientConfig | SQSClient): sqs is SQSClient {
  return 'send' in sqs && typeof sqs.send === 'function';
}
