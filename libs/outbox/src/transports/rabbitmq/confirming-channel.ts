import { type ChannelModel, type ConfirmChannel, connect, type Options } from 'amqplib';
import type { ResolvedRabbitmqOptions } from './rabbitmq-transport-options.js';

/** How long RabbitMQ may take to answer that a connection is closed; one that is dead would take as long as its heartbeat. */
const CLOSE_TIMEOUT_MS = 1000;

/** What RabbitMQ said of one message. */
export type Confirmation =
  | { readonly kind: 'accepted' }
  /** No queue took it; `reply` is RabbitMQ's own text. */
  | { readonly kind: 'unroutable'; readonly reply: string }
  /** A queue is full, or the broker failed on it. */
  | { readonly kind: 'refused' }
  /** The channel was lost before it said anything. */
  | { readonly kind: 'unknown'; readonly error: unknown };

/**
 * A connection with one channel on which every message is confirmed. RabbitMQ confirms a message that reached no queue
 * like any other, after it was returned; the two are matched by message id here.
 */
export class ConfirmingChannel {
  private readonly returned = new Map<string, string>();
  private isOpen = true;
  private blockedBy: string | undefined;

  /** Connects, declares the topology and makes sure that the exchange is there. Leaves nothing open when it fails. */
  static async open(
    options: ResolvedRabbitmqOptions,
    onLost: (lost: ConfirmingChannel) => void,
  ): Promise<ConfirmingChannel> {
    const severing = new AbortController();
    // amqplib hands these on to Node, whose sockets end with the signal.
    const socketOptions = { ...options.socketOptions, signal: severing.signal };
    const connection = await connect(options.url, socketOptions);
    connection.on('error', () => undefined); // 'close' follows, and who waits is told
    try {
      // A failed declaration closes the channel that it was made on.
      const declaring = await connection.createChannel();
      declaring.on('error', () => undefined);
      await options.topology(declaring);
      await declaring.checkExchange(options.exchange);
      await declaring.close();
      const channel = await connection.createConfirmChannel();
      return new ConfirmingChannel(connection, channel, severing, onLost);
    } catch (error) {
      await close(connection, severing);
      throw error;
    }
  }

  private constructor(
    private readonly connection: ChannelModel,
    private readonly channel: ConfirmChannel,
    private readonly severing: AbortController,
    onLost: (lost: ConfirmingChannel) => void,
  ) {
    channel.on('error', () => undefined); // 'close' follows
    // Before amqplib's own, which answers for everything that was not confirmed.
    channel.prependListener('close', () => {
      this.isOpen = false;
      onLost(this);
      // A new connection comes with a new channel; this one would stay open without one.
      void this.close();
    });
    channel.on('return', ({ fields, properties }) => {
      const { replyCode, replyText } = fields as { replyCode?: number; replyText?: string };
      this.returned.set(String(properties.messageId), `${replyCode ?? ''} ${replyText ?? ''}`.trim());
    });
    connection.on('close', () => onLost(this));
    connection.on('blocked', (reason) => {
      this.blockedBy = reason;
    });
    connection.on('unblocked', () => {
      this.blockedBy = undefined;
    });
  }

  /** Why RabbitMQ takes no messages on this connection now; undefined when it does. */
  get blockReason(): string | undefined {
    return this.blockedBy;
  }

  /** Sends at once, in the order of the calls. @param messageId must not be under way twice. */
  publish(
    exchange: string,
    routingKey: string,
    body: Buffer,
    messageId: string,
    properties: Options.Publish,
  ): Promise<Confirmation> {
    return new Promise((resolve) => {
      const answer = (error: unknown): void => {
        const reply = this.returned.get(messageId);
        this.returned.delete(messageId);
        if (reply !== undefined) resolve({ kind: 'unroutable', reply });
        else if (error === null || error === undefined) resolve({ kind: 'accepted' });
        else resolve(this.isOpen ? { kind: 'refused' } : { kind: 'unknown', error });
      };
      try {
        this.channel.publish(exchange, routingKey, body, { ...properties, messageId, mandatory: true }, answer);
      } catch (error) {
        resolve({ kind: 'unknown', error });
      }
    });
  }

  close(): Promise<void> {
    return close(this.connection, this.severing);
  }
}

/** Leaves no connection behind, whether RabbitMQ answers or not. Never rejects. */
async function close(connection: ChannelModel, severing: AbortController): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, CLOSE_TIMEOUT_MS);
  });
  const closed = connection.close().catch(() => undefined); // closed by the other side, or just now by us
  await Promise.race([closed, timeout]);
  clearTimeout(timer);
  severing.abort();
}
