import {
  ChangeMessageVisibilityCommand,
  DeleteMessageCommand,
  type Message,
  ReceiveMessageCommand,
  type SQSClient,
} from '@aws-sdk/client-sqs';
import { describeError } from '../../../errors/index.js';
import { fullJitterMs, logLine, systemRandom, waitFor } from '../../../runtime/index.js';
import { type ConsumedMessage, MessageServer, readParts } from '../../consuming/index.js';
import { requireWhole } from '../../require-whole.js';
import { resolveSqsOptions, type SqsTransportOptions } from '../sqs-transport-options.js';

export interface SqsServerOptions extends Pick<SqsTransportOptions, 'queueUrl' | 'sqs'> {
  /** Messages in work at once; default 10. A FIFO queue keeps the order of each group, however many there are. */
  readonly concurrency?: number;
  /** After so many seconds without a word of its process a message comes again; default 60, at most 43,200. */
  readonly visibilitySeconds?: number;
  /** How long a request waits for messages; default 20 seconds, Amazon's longest. */
  readonly waitSeconds?: number;
}

const MAX_VISIBILITY_SECONDS = 43_200;
/** Most messages that SQS gives for one request. */
const MAX_BATCH = 10;
const RETRY_BASE_MS = 200;
const RETRY_CAP_MS = 5000;
const SIGNS_OF_LIFE_PER_VISIBILITY = 3;

/**
 * A server for Nest's microservices that polls a queue of Amazon SQS: each message is deleted after its handlers, and one of
 * a process that died is visible again after `visibilitySeconds`.
 *
 * A handler is found by the event's type, or by the name of the queue.
 */
export class SqsServer extends MessageServer {
  private readonly queueUrl: string;
  private readonly queue: string;
  private readonly client: SQSClient;
  private readonly closesClient: boolean;
  private readonly concurrency: number;
  private readonly visibilitySeconds: number;
  private readonly waitSeconds: number;
  private readonly stopping = new AbortController();
  private polling: Promise<void> | undefined;

  /** @throws ConfigurationError when an option is missing or out of its bounds. */
  constructor(options: SqsServerOptions) {
    super();
    const { queueUrl, createClient, closesClient } = resolveSqsOptions('SqsServer', options);
    this.queueUrl = queueUrl;
    this.queue = new URL(queueUrl).pathname.split('/').at(-1) ?? '';
    this.client = createClient();
    this.closesClient = closesClient;
    this.concurrency = requireWhole('SqsServer', 'concurrency', options.concurrency ?? MAX_BATCH, { max: 1000 });
    this.visibilitySeconds = requireWhole('SqsServer', 'visibilitySeconds', options.visibilitySeconds ?? 60, {
      max: MAX_VISIBILITY_SECONDS,
    });
    this.waitSeconds = requireWhole('SqsServer', 'waitSeconds', options.waitSeconds ?? 20, { min: 0, max: 20 });
    this.initializeSerializer({});
    this.initializeDeserializer({});
  }

  /** Calls back when the queue has answered for the first time, or with the error when it cannot be reached. */
  async listen(callback: (error?: unknown) => void): Promise<void> {
    try {
      this.handleAll(await this.receive(0));
    } catch (error) {
      callback(error);
      return;
    }
    this.polling = this.poll();
    callback();
  }

  /** Receives nothing more and waits for the handlers that run. */
  async close(): Promise<void> {
    this.stopping.abort();
    await this.polling;
    await this.untilIdle();
    if (this.closesClient) this.client.destroy();
  }

  unwrap<T>(): T {
    return this.client as T;
  }

  private async poll(): Promise<void> {
    const { signal } = this.stopping;
    for (let failures = 0; !signal.aborted; ) {
      try {
        while (this.runningCount >= this.concurrency) await this.untilOneEnds();
        this.handleAll(await this.receive(this.waitSeconds));
        failures = 0;
      } catch (error) {
        if (signal.aborted) return;
        if (failures === 0)
          this.logger.warn(logLine('SQS cannot be read, trying again', { error: describeError(error) }));
        failures += 1;
        await waitFor(fullJitterMs(failures, RETRY_BASE_MS, RETRY_CAP_MS, systemRandom), signal);
      }
    }
  }

  private async receive(waitSeconds: number): Promise<readonly Message[]> {
    const command = new ReceiveMessageCommand({
      QueueUrl: this.queueUrl,
      MaxNumberOfMessages: Math.min(MAX_BATCH, Math.max(1, this.concurrency - this.runningCount)),
      WaitTimeSeconds: waitSeconds,
      VisibilityTimeout: this.visibilitySeconds,
      MessageAttributeNames: ['All'],
    });
    return (await this.client.send(command, { abortSignal: this.stopping.signal })).Messages ?? [];
  }

  private handleAll(messages: readonly Message[]): void {
    for (const message of messages) this.handle(message);
  }

  private handle(message: Message): void {
    const consumed = toConsumedMessage(this.queue, message);
    const everyMs = (this.visibilitySeconds * 1000) / SIGNS_OF_LIFE_PER_VISIBILITY;
    const life = setInterval(
      () => void this.showAgainIn(message, this.visibilitySeconds).catch(() => undefined),
      everyMs,
    );
    void this.take(consumed, readParts(consumed, undefined, this.queue), {
      accept: async () => {
        await this.client.send(
          new DeleteMessageCommand({ QueueUrl: this.queueUrl, ReceiptHandle: message.ReceiptHandle }),
        );
      },
      deliverAgain: (delayMs) => {
        clearInterval(life);
        return this.showAgainIn(message, Math.min(MAX_VISIBILITY_SECONDS, Math.ceil(delayMs / 1000)));
      },
    }).finally(() => clearInterval(life));
  }

  private async showAgainIn({ ReceiptHandle }: Message, seconds: number): Promise<void> {
    await this.client.send(
      new ChangeMessageVisibilityCommand({ QueueUrl: this.queueUrl, ReceiptHandle, VisibilityTimeout: seconds }),
    );
  }
}

function toConsumedMessage(
  queue: string,
  { Body = '', MessageAttributes = {}, MessageId = '' }: Message,
): ConsumedMessage {
  const headers = Object.entries(MessageAttributes).map(
    ([name, { StringValue }]) => [name, StringValue ?? ''] as const,
  );
  const texts = Object.fromEntries(headers);
  return {
    source: `SQS queue "${queue}", message ${MessageId}`,
    contentType: texts['content-type'] ?? '',
    headers: texts,
    body: Buffer.from(Body),
  };
}
