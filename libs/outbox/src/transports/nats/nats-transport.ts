import { type JetStreamClient, jetstream } from '@nats-io/jetstream';
import { errors, type NatsConnection, headers as natsHeaders } from '@nats-io/transport-node';
import { type CloudEventMessage, JSON_TYPE, toCloudEventMessage } from '../cloud-event-message.js';
import { dedupeId } from '../dedupe-id.js';
import { encodeBatch, isSilent } from '../encode-batch.js';
import { Link } from '../link.js';
import { percentEncode } from '../percent-encode.js';
import { delivered, type PublishOutcome } from '../publish-outcome.js';
import type { OutgoingEvent, Transport, TransportCapabilities } from '../transport.js';
import { unanswered } from '../unanswered.js';
import { untilAborted } from '../until-aborted.js';
import { natsFailure } from './nats-failure.js';
import { type NatsTransportOptions, type ResolvedNatsOptions, resolveNatsOptions } from './nats-transport-options.js';

/** Of the CloudEvents binding for NATS, binary mode. */
const ATTRIBUTE_PREFIX = 'ce-';

interface JetStreamLink {
  readonly connection: NatsConnection;
  readonly client: JetStreamClient;
}

/**
 * Publishes to streams of NATS JetStream. `delivered` means that the stream acknowledged the message; a stream that has it
 * already, by its `Nats-Msg-Id` within the `duplicate_window`, says so, and it counts as delivered.
 *
 * The payload is the data; the CloudEvents attributes are headers with the prefix `ce-`.
 */
export class NatsTransport implements Transport {
  /** Two messages of one connection may have different fates, so an aggregate's next one waits for the acknowledgement. */
  readonly capabilities: TransportCapabilities = { batch: true, keepsOrderPerKey: false, deduplicates: true };
  readonly #options: ResolvedNatsOptions;
  readonly #link: Link<JetStreamLink>;

  /** @throws ConfigurationError when an option is missing or out of its bounds. */
  constructor(options: NatsTransportOptions) {
    this.#options = resolveNatsOptions(options);
    this.#link = new Link({ open: () => this.#open(), close: ({ connection }) => connection.close() });
  }

  async connect(): Promise<void> {
    await this.#link.get();
  }

  publish(batch: readonly OutgoingEvent[], signal: AbortSignal): Promise<readonly PublishOutcome[]> {
    return this.#link.publish(batch, signal, async (link) => {
      const { source } = this.#options;
      const encodedBatch = encodeBatch(batch, (event) => toCloudEventMessage(event, source));
      const { encoded, outcomes } = encodedBatch;
      const publishing = encoded.map(async ({ event, message }) => {
        const outcome = await this.#publishOne(link.client, event, message);
        if (outcome !== undefined) outcomes.set(event, outcome);
      });
      await untilAborted(Promise.all(publishing), signal, () => undefined);
      // Of a network that is gone nobody tells; the client itself would notice it minutes later.
      if (isSilent(encodedBatch)) {
        this.#link.drop(link);
        link.connection.close().catch(() => undefined); // it is of no use any more
      }
      return batch.map((event) => outcomes.get(event) ?? unanswered);
    });
  }

  close(): Promise<void> {
    return this.#link.close();
  }

  async #open(): Promise<JetStreamLink> {
    const connection = await this.#options.connect();
    const link: JetStreamLink = { connection, client: jetstream(connection) };
    void connection.closed().then(() => this.#link.drop(link));
    return link;
  }

  /** Undefined when the stream did not answer in time. Never rejects. */
  async #publishOne(
    client: JetStreamClient,
    event: OutgoingEvent,
    message: CloudEventMessage,
  ): Promise<PublishOutcome | undefined> {
    const subject = this.#options.subject(event);
    try {
      const { duplicate } = await client.publish(subject, message.body, {
        msgID: dedupeId(event),
        headers: headersOf(message),
        timeout: this.#options.ackTimeoutMs,
      });
      return duplicate ? { kind: 'delivered', duplicate } : delivered;
    } catch (error) {
      return error instanceof errors.TimeoutError ? undefined : natsFailure(error, subject);
    }
  }
}

function headersOf({ attributes }: CloudEventMessage): ReturnType<typeof natsHeaders> {
  const headers = natsHeaders();
  headers.set('content-type', JSON_TYPE);
  for (const [name, value] of Object.entries(attributes))
    headers.set(`${ATTRIBUTE_PREFIX}${name}`, percentEncode(value));
  return headers;
}
