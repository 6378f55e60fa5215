import { type CloudEventMessage, isDead, JSON_TYPE, toCloudEventMessage } from '../cloud-event-message.js';
import { type EncodedEvent, encodeBatch } from '../encode-batch.js';
import { groupBy } from '../group-by.js';
import { Link } from '../link.js';
import { orderedKey } from '../ordered-key.js';
import { type Dead, delivered, held, type PublishOutcome } from '../publish-outcome.js';
import type { OutgoingEvent, Transport, TransportCapabilities } from '../transport.js';
import { unanswered } from '../unanswered.js';
import { untilAborted } from '../until-aborted.js';
import { isAboutTopic, kafkaFailure } from './kafka-failure.js';
import type { KafkaMessage, KafkaProducer } from './kafka-producer.js';
import {
  type KafkaTransportOptions,
  type ResolvedKafkaOptions,
  resolveKafkaOptions,
} from './kafka-transport-options.js';

/** Of the CloudEvents binding for Kafka, binary mode. */
const ATTRIBUTE_PREFIX = 'ce_';

/** All replicas that are in sync. */
const ACKS_ALL = -1;

interface TopicMessage {
  readonly topic: string;
  readonly message: KafkaMessage;
}

type Entry = EncodedEvent<TopicMessage>;

/**
 * Publishes to Kafka with the aggregate's id as key, so that a partition holds each aggregate in order. `delivered` means
 * that all replicas in sync have the record.
 *
 * The payload is the value; the CloudEvents attributes are headers with the prefix `ce_`.
 */
export class KafkaTransport implements Transport {
  readonly capabilities: TransportCapabilities;
  readonly #options: ResolvedKafkaOptions;
  readonly #link: Link<KafkaProducer>;

  /** @throws ConfigurationError when an option is missing or out of its bounds. */
  constructor(options: KafkaTransportOptions) {
    this.#options = resolveKafkaOptions(options);
    // Within a topic a batch is taken or refused for each partition as a whole; only the default brings an aggregate there.
    this.capabilities = { batch: true, keepsOrderPerKey: options.topic === undefined, deduplicates: false };
    this.#link = new Link({ open: () => this.#open(), close: (producer) => producer.disconnect() });
  }

  async connect(): Promise<void> {
    await this.#link.get();
  }

  publish(batch: readonly OutgoingEvent[], signal: AbortSignal): Promise<readonly PublishOutcome[]> {
    return this.#link.publish(batch, signal, async (producer) => {
      const { encoded, outcomes } = encodeBatch(batch, (event) => this.#messageOf(event));
      const sending = encoded.length === 0 ? Promise.resolve() : this.#send(encoded, outcomes, signal);
      await untilAborted(sending, signal, () => this.#giveUp(producer));
      return batch.map((event) => outcomes.get(event) ?? unanswered);
    });
  }

  close(): Promise<void> {
    return this.#link.close();
  }

  async #open(): Promise<KafkaProducer> {
    const producer = this.#options.createProducer();
    await producer.connect();
    return producer;
  }

  #messageOf(event: OutgoingEvent): TopicMessage | Dead {
    const { source, topic, maxMessageBytes } = this.#options;
    const message = toCloudEventMessage(event, source);
    if (isDead(message)) return message;
    if (message.body.length > maxMessageBytes) {
      return { kind: 'dead', error: `its payload has ${message.body.length} bytes, the limit is ${maxMessageBytes}.` };
    }
    return { topic: topic(event), message: toKafkaMessage(event, message) };
  }

  /** Notes an outcome for each event. What a batch is refused for is found by sending its parts. Never rejects. */
  async #send(
    entries: readonly Entry[],
    outcomes: Map<OutgoingEvent, PublishOutcome>,
    signal: AbortSignal,
  ): Promise<void> {
    if (signal.aborted) return;
    const byTopic = groupBy(entries, ({ message }) => message.topic);
    const topicMessages = [...byTopic].map(([topic, ofTopic]) => ({
      topic,
      messages: ofTopic.map(({ message }) => message.message),
    }));
    let producer: KafkaProducer | undefined;
    try {
      producer = await this.#link.get();
      await producer.sendBatch({ topicMessages, acks: ACKS_ALL, timeout: this.#options.ackTimeoutMs });
      for (const { event } of entries) outcomes.set(event, delivered);
      // Given up meanwhile, it has connected once more for its second try.
      if (signal.aborted) this.#giveUp(producer);
    } catch (error) {
      if (producer !== undefined) this.#giveUp(producer);
      const failure = kafkaFailure(error);
      if ((failure.kind === 'dead' || isAboutTopic(error)) && byTopic.size > 1) {
        for (const ofTopic of byTopic.values()) await this.#send(ofTopic, outcomes, signal);
      } else if (failure.kind === 'dead' && entries.length > 1) await this.#sendOneByOne(entries, outcomes, signal);
      else for (const { event } of entries) outcomes.set(event, failure);
    }
  }

  async #sendOneByOne(
    entries: readonly Entry[],
    outcomes: Map<OutgoingEvent, PublishOutcome>,
    signal: AbortSignal,
  ): Promise<void> {
    const stopped = new Set<string>();
    for (const entry of entries) {
      const key = orderedKey(entry.event);
      if (key !== undefined && stopped.has(key)) outcomes.set(entry.event, held);
      else await this.#send([entry], outcomes, signal);
      if (key !== undefined && outcomes.get(entry.event)?.kind !== 'delivered') stopped.add(key);
    }
  }

  /**
   * After a failure the broker may have a part of the batch that the producer has not counted; what it would send next
   * under the same numbers, the broker would take for that part. So the next publish makes a new producer.
   */
  #giveUp(producer: KafkaProducer): void {
    this.#link.drop(producer);
    producer.disconnect().catch(() => undefined); // it is of no use any more
  }
}

function toKafkaMessage({ envelope }: OutgoingEvent, { attributes, body }: CloudEventMessage): KafkaMessage {
  const prefixed = Object.entries(attributes).map(([name, value]) => [`${ATTRIBUTE_PREFIX}${name}`, value] as const);
  return {
    key: envelope.aggregateId,
    value: body,
    headers: { 'content-type': JSON_TYPE, ...Object.fromEntries(prefixed) },
    timestamp: String(envelope.createdAt.getTime()),
  };
}
