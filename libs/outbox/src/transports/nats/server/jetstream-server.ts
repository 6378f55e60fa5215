import { AckPolicy, type ConsumerMessages, type JsMsg, jetstream, jetstreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { ConfigurationError, describeError } from '../../../errors/index.js';
import { fullJitterMs, logLine, systemRandom, waitFor } from '../../../runtime/index.js';
import { type ConsumedMessage, MessageServer, readParts } from '../../consuming/index.js';
import { requireWhole } from '../../require-whole.js';
import { connector, type NatsTransportOptions } from '../nats-transport-options.js';

export interface JetStreamServerOptions {
  /** As of NatsTransport. */
  readonly nats: NatsTransportOptions['nats'];
  /** Name of the stream; it must exist. */
  readonly stream: string;
  /** Name of the durable consumer: each gets every message, and each message goes to one of its processes. Made when missing. */
  readonly durable: string;
  /** Which subjects of the stream; default all. Used only when the consumer is made. */
  readonly filterSubject?: string;
  /** Messages in work at once; default 1, which keeps the order as long as one process consumes. */
  readonly concurrency?: number;
  /** After so many ms without a word of its process a message comes again; default 30,000. Used when the consumer is made. */
  readonly ackWaitMs?: number;
}

const RECONNECT_BASE_MS = 200;
const RECONNECT_CAP_MS = 5000;
/** So often a message that is being processed says that it is. */
const SIGNS_OF_LIFE_PER_ACK_WAIT = 3;

/**
 * A server for Nest's microservices that consumes a stream of NATS JetStream through a durable consumer: each message is
 * acknowledged after its handlers, and one of a process that died comes again after `ackWaitMs`.
 *
 * A handler is found by the event's type, or by the subject.
 */
export class JetStreamServer extends MessageServer {
  private readonly settings: Required<Omit<JetStreamServerOptions, 'nats' | 'filterSubject'>> & {
    readonly connect: () => Promise<NatsConnection>;
    readonly filterSubject: string | undefined;
  };
  private readonly stopping = new AbortController();
  private connection: NatsConnection | undefined;
  private messages: ConsumerMessages | undefined;
  private consuming: Promise<void> | undefined;

  /** @throws ConfigurationError when an option is missing or out of its bounds. */
  constructor(options: JetStreamServerOptions) {
    super();
    const { stream, durable, filterSubject, concurrency = 1, ackWaitMs = 30_000 } = options;
    if (!stream || !durable) {
      throw new ConfigurationError('JetStreamServer: "stream" and "durable" must be names.');
    }
    this.settings = {
      connect: connector('JetStreamServer', options.nats),
      stream,
      durable,
      filterSubject,
      concurrency: requireWhole('JetStreamServer', 'concurrency', concurrency, { max: 1000 }),
      ackWaitMs: requireWhole('JetStreamServer', 'ackWaitMs', ackWaitMs, { min: 100 }),
    };
    this.initializeSerializer({});
    this.initializeDeserializer({});
  }

  /** Calls back when the consumer is there, or with the error when NATS cannot be reached or has no such stream. */
  async listen(callback: (error?: unknown) => void): Promise<void> {
    try {
      await this.open();
    } catch (error) {
      callback(error);
      return;
    }
    this.consuming = this.consume();
    callback();
  }

  /** Takes nothing more, waits for the handlers that run; the rest comes to others after `ackWaitMs`. */
  async close(): Promise<void> {
    this.stopping.abort();
    this.messages?.stop();
    await this.consuming;
    await this.untilIdle();
    await this.connection?.drain().catch(() => undefined); // it is closed already
  }

  unwrap<T>(): T {
    return this.connection as T;
  }

  private async consume(): Promise<void> {
    const { signal } = this.stopping;
    for (let failures = 0; !signal.aborted; ) {
      try {
        const messages = this.messages ?? (await this.open());
        failures = 0;
        await this.takeAll(messages);
      } catch (error) {
        if (signal.aborted) return;
        if (failures === 0)
          this.logger.warn(logLine('NATS cannot be read, trying again', { error: describeError(error) }));
      }
      this.messages = undefined;
      if (signal.aborted) return;
      failures += 1;
      await waitFor(fullJitterMs(failures, RECONNECT_BASE_MS, RECONNECT_CAP_MS, systemRandom), signal);
    }
  }

  private async takeAll(messages: ConsumerMessages): Promise<void> {
    for await (const message of messages) {
      this.handle(message);
      while (this.runningCount >= this.settings.concurrency) await this.untilOneEnds();
      if (this.stopping.signal.aborted) return;
    }
  }

  private handle(message: JsMsg): void {
    const consumed = toConsumedMessage(message);
    const life = setInterval(() => message.working(), this.settings.ackWaitMs / SIGNS_OF_LIFE_PER_ACK_WAIT);
    void this.take(consumed, readParts(consumed, consumed.headers['ce-type'], message.subject), {
      accept: async () => message.ack(),
      deliverAgain: async (delayMs) => message.nak(delayMs),
    }).finally(() => clearInterval(life));
  }

  private async open(): Promise<ConsumerMessages> {
    if (this.connection === undefined || this.connection.isClosed()) this.connection = await this.settings.connect();
    const { stream, durable, filterSubject, ackWaitMs, concurrency } = this.settings;
    const manager = await jetstreamManager(this.connection);
    await manager.consumers.add(stream, {
      durable_name: durable,
      ack_policy: AckPolicy.Explicit,
      ack_wait: ackWaitMs * 1_000_000,
      ...(filterSubject === undefined ? {} : { filter_subject: filterSubject }),
    });
    const consumer = await jetstream(this.connection).consumers.get(stream, durable);
    this.messages = await consumer.consume({ max_messages: concurrency });
    return this.messages;
  }
}

function toConsumedMessage({ headers, data, subject, seq, info }: JsMsg): ConsumedMessage {
  const texts = Object.fromEntries(
    [...(headers?.keys() ?? [])].map((name) => [name.toLowerCase(), headers?.get(name) ?? '']),
  );
  return {
    source: `JetStream "${info.stream}", subject "${subject}", sequence ${seq}`,
    contentType: texts['content-type'] ?? '',
    headers: texts,
    body: Buffer.from(data),
  };
}
