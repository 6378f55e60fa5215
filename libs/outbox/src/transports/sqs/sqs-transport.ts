import {
  type BatchResultErrorEntry,
  SendMessageBatchCommand,
  type SendMessageBatchRequestEntry,
  type SQSClient,
} from '@aws-sdk/client-sqs';
import { isDead, STRUCTURED_TYPE, toStructuredCloudEvent } from '../cloud-event-message.js';
import { dedupeId } from '../dedupe-id.js';
import { type EncodedEvent, encodeBatch } from '../encode-batch.js';
import { type Dead, delivered, type PublishOutcome } from '../publish-outcome.js';
import type { OutgoingEvent, Transport, TransportCapabilities } from '../transport.js';
import { unanswered } from '../unanswered.js';
import { untilAborted } from '../until-aborted.js';
import { chunksOf } from './chunks.js';
import { toGroupId } from './group-id.js';
import { sqsFailure } from './sqs-failure.js';
import { type ResolvedSqsOptions, resolveSqsOptions, type SqsTransportOptions } from './sqs-transport-options.js';

/** Amazon's limit for a message and for a request: 1 MiB, attributes included. */
const MAX_BYTES = 1_048_576;

interface SqsMessage {
  readonly body: string;
  readonly bytes: number;
}

/**
 * Sends events to a queue of Amazon SQS, ten in a request. `delivered` means that SQS named the message among those that
 * it has stored.
 *
 * The body is the whole CloudEvent as JSON, because SQS has no more than ten attributes for a message.
 */
export class SqsTransport implements Transport {
  readonly capabilities: TransportCapabilities;
  readonly #options: ResolvedSqsOptions;
  #client: SQSClient | undefined;

  /** @throws ConfigurationError when an option is missing or out of its bounds. */
  constructor(options: SqsTransportOptions) {
    this.#options = resolveSqsOptions('SqsTransport', options);
    // Of one request some messages may be stored and others not, so an aggregate's next one waits for the answer.
    this.capabilities = { batch: true, keepsOrderPerKey: false, deduplicates: this.#options.isFifo };
  }

  async publish(batch: readonly OutgoingEvent[], signal: AbortSignal): Promise<readonly PublishOutcome[]> {
    this.#client ??= this.#options.createClient();
    const client = this.#client;
    const { encoded, outcomes } = encodeBatch(batch, (event) => this.#messageOf(event));
    const chunks = chunksOf(encoded, { items: 10, bytes: MAX_BYTES, bytesOf: ({ message }) => message.bytes });
    const sending = chunks.map((chunk) => this.#send(client, chunk, outcomes, signal));
    await untilAborted(Promise.all(sending), signal, () => undefined);
    return batch.map((event) => outcomes.get(event) ?? unanswered);
  }

  async close(): Promise<void> {
    if (this.#options.closesClient) this.#client?.destroy();
    this.#client = undefined;
  }

  #messageOf(event: OutgoingEvent): SqsMessage | Dead {
    const body = toStructuredCloudEvent(event, this.#options.source);
    if (isDead(body)) return body;
    const bytes = Buffer.byteLength(body) + 2 * STRUCTURED_TYPE.length;
    if (bytes <= MAX_BYTES) return { body, bytes };
    return { kind: 'dead', error: `it has ${bytes} bytes as a message, the limit of SQS is ${MAX_BYTES}.` };
  }

  /** Notes an outcome for each event of one request. Never rejects. */
  async #send(
    client: SQSClient,
    chunk: readonly EncodedEvent<SqsMessage>[],
    outcomes: Map<OutgoingEvent, PublishOutcome>,
    signal: AbortSignal,
  ): Promise<void> {
    try {
      const command = new SendMessageBatchCommand({
        QueueUrl: this.#options.queueUrl,
        Entries: chunk.map((one, index) => this.#entryOf(one, index)),
      });
      const { Successful = [], Failed = [] } = await client.send(command, { abortSignal: signal });
      const eventOf = (id: string | undefined): OutgoingEvent | undefined => chunk[Number(id)]?.event;
      for (const { Id } of Successful) note(outcomes, eventOf(Id), delivered);
      for (const failed of Failed) note(outcomes, eventOf(failed.Id), refusal(failed));
    } catch (error) {
      if (signal.aborted) return;
      const failure = sqsFailure(error);
      for (const { event } of chunk) outcomes.set(event, failure);
    }
  }

  #entryOf({ event, message }: EncodedEvent<SqsMessage>, index: number): SendMessageBatchRequestEntry {
    const entry = {
      Id: String(index),
      MessageBody: message.body,
      MessageAttributes: { 'content-type': { DataType: 'String', StringValue: STRUCTURED_TYPE } },
    };
    if (!this.#options.isFifo) return entry;
    const group = toGroupId(this.#options.groupId(event));
    return { ...entry, MessageGroupId: group, MessageDeduplicationId: dedupeId(event) };
  }
}

function note(
  outcomes: Map<OutgoingEvent, PublishOutcome>,
  event: OutgoingEvent | undefined,
  outcome: PublishOutcome,
): void {
  if (event !== undefined) outcomes.set(event, outcome);
}

/** SQS says whose fault it was: what is wrong with the message stays wrong. */
function refusal({ Code = 'unknown', Message = '', SenderFault = false }: BatchResultErrorEntry): PublishOutcome {
  return { kind: SenderFault ? 'dead' : 'retry', error: `SQS refused the message (${Code}): ${Message}` };
}
