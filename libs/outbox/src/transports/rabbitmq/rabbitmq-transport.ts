import { describeError } from '../../errors/index.js';
import { type CloudEventMessage, isDead, JSON_TYPE, toCloudEventMessage } from '../cloud-event-message.js';
import { encodeBatch, isSilent } from '../encode-batch.js';
import { Link } from '../link.js';
import { type Dead, delivered, type PublishOutcome, type Unreachable } from '../publish-outcome.js';
import type { OutgoingEvent, Transport, TransportCapabilities } from '../transport.js';
import { unanswered } from '../unanswered.js';
import { untilAborted } from '../until-aborted.js';
import { type Confirmation, ConfirmingChannel } from './confirming-channel.js';
import {
  MAX_SHORT_STRING_BYTES,
  type RabbitmqTransportOptions,
  type ResolvedRabbitmqOptions,
  resolveRabbitmqOptions,
} from './rabbitmq-transport-options.js';

/** Of the CloudEvents binding for AMQP 1.0, which is what others use with RabbitMQ's own protocol as well. */
const ATTRIBUTE_PREFIX = 'cloudEvents_';

interface RoutedMessage extends CloudEventMessage {
  readonly routingKey: string;
}

/**
 * Publishes persistent messages to an exchange of RabbitMQ, each confirmed by the broker. `delivered` means that RabbitMQ
 * took responsibility for the message in at least one queue; one that reached no queue is not delivered.
 *
 * The payload is the body; the CloudEvents attributes are headers with the prefix `cloudEvents_`.
 */
export class RabbitmqTransport implements Transport {
  /** Two messages of one channel may have different fates, so an aggregate's next one waits for the confirmation. */
  readonly capabilities: TransportCapabilities = { batch: true, keepsOrderPerKey: false, deduplicates: false };
  readonly #options: ResolvedRabbitmqOptions;
  readonly #link: Link<ConfirmingChannel>;

  /** @throws ConfigurationError when an option is missing or out of its bounds. */
  constructor(options: RabbitmqTransportOptions) {
    this.#options = resolveRabbitmqOptions(options);
    this.#link = new Link({
      open: () => ConfirmingChannel.open(this.#options, (lost) => this.#link.drop(lost)),
      close: (channel) => channel.close(),
    });
  }

  async connect(): Promise<void> {
    await this.#link.get();
  }

  publish(batch: readonly OutgoingEvent[], signal: AbortSignal): Promise<readonly PublishOutcome[]> {
    return this.#link.publish(batch, signal, async (channel) => {
      const { blockReason } = channel;
      if (blockReason !== undefined) return batch.map(() => blocked(blockReason));
      const encodedBatch = encodeBatch(batch, (event) => this.#messageOf(event));
      const { encoded, outcomes } = encodedBatch;
      const confirming = encoded.map(async ({ event, message }) => {
        outcomes.set(event, this.#outcomeOf(await this.#send(channel, event, message), message.routingKey));
      });
      await untilAborted(Promise.all(confirming), signal, () => undefined);
      // RabbitMQ says that it blocks only when it is sent something, and reads that when it blocks no more.
      const isBlocked = channel.blockReason !== undefined;
      // Of a network that is gone nobody tells; the heartbeat would notice it a minute later.
      if (!isBlocked && isSilent(encodedBatch)) {
        this.#link.drop(channel);
        void channel.close();
      }
      const unconfirmed = isBlocked ? blocked(`${channel.blockReason}. It may have the event`) : unanswered;
      return batch.map((event) => outcomes.get(event) ?? unconfirmed);
    });
  }

  close(): Promise<void> {
    return this.#link.close();
  }

  #messageOf(event: OutgoingEvent): RoutedMessage | Dead {
    const { routingKey: routingKeyOf, source, maxMessageBytes } = this.#options;
    const message = toCloudEventMessage(event, source);
    if (isDead(message)) return message;
    const routingKey = routingKeyOf(event);
    if (Buffer.byteLength(routingKey) > MAX_SHORT_STRING_BYTES) {
      return { kind: 'dead', error: `its routing key has more than ${MAX_SHORT_STRING_BYTES} bytes.` };
    }
    if (message.body.length > maxMessageBytes) {
      return { kind: 'dead', error: `its payload has ${message.body.length} bytes, the limit is ${maxMessageBytes}.` };
    }
    return { ...message, routingKey };
  }

  #send(
    channel: ConfirmingChannel,
    { envelope }: OutgoingEvent,
    { routingKey, attributes, body }: RoutedMessage,
  ): Promise<Confirmation> {
    const headers = Object.fromEntries(
      Object.entries(attributes).map(([name, value]) => [`${ATTRIBUTE_PREFIX}${name}`, value]),
    );
    return channel.publish(this.#options.exchange, routingKey, body, envelope.id, {
      headers,
      contentType: JSON_TYPE,
      persistent: true,
      type: envelope.type,
      timestamp: Math.floor(envelope.createdAt.getTime() / 1000),
    });
  }

  #outcomeOf(confirmation: Confirmation, routingKey: string): PublishOutcome {
    const { exchange, unroutable } = this.#options;
    switch (confirmation.kind) {
      case 'accepted':
        return delivered;
      case 'unroutable':
        return {
          kind: unroutable,
          error: `no queue of exchange "${exchange}" takes routing key "${routingKey}" (${confirmation.reply}). Bind one.`,
        };
      case 'refused':
        return {
          kind: 'retry',
          error: `RabbitMQ refused the message: a queue behind "${exchange}" is full, or failed.`,
        };
      case 'unknown':
        return {
          kind: 'retry',
          error: `RabbitMQ may have the event, but did not confirm it: ${describeError(confirmation.error)}`,
        };
    }
  }
}

/** It would confirm nothing before its alarm is over. No attempt of an event is spent meanwhile. */
function blocked(reason: string): Unreachable {
  return { kind: 'unreachable', error: `RabbitMQ blocks publishers: ${reason}.` };
}
