import type { RawMessage } from '../../store/index.js';
import { headerTexts } from './header-texts.js';
import type { MessageSource } from './message-source.js';

/** What is used of `RmqContext`, and of a message of amqplib. */
interface RabbitmqContext {
  getMessage(): RabbitmqMessage;
  getChannelRef(): RabbitmqChannel;
}

interface RabbitmqMessage {
  readonly content: Buffer;
  readonly fields: { readonly exchange?: string; readonly routingKey?: string };
  readonly properties: { readonly contentType?: string; readonly headers?: Readonly<Record<string, unknown>> };
}

interface RabbitmqChannel {
  ack(message: RabbitmqMessage): void;
  nack(message: RabbitmqMessage, allUpTo: boolean, requeue: boolean): void;
}

/** Messages of Nest's RabbitMQ server with `noAck: false`. */
export const rabbitmqSource: MessageSource = {
  name: 'RabbitMQ',
  redelivers: true,
  isSourceOf: (context) => 'getChannelRef' in context && 'getMessage' in context,
  raw(context): RawMessage {
    const { content, fields, properties } = (context as RabbitmqContext).getMessage();
    return {
      source: `RabbitMQ exchange "${fields.exchange ?? ''}", routing key "${fields.routingKey ?? ''}"`,
      contentType: properties.contentType ?? '',
      headers: headerTexts(properties.headers),
      body: content,
    };
  },
  accept(context) {
    const rabbitmq = context as RabbitmqContext;
    rabbitmq.getChannelRef().ack(rabbitmq.getMessage());
  },
  /** RabbitMQ would deliver it at once. Until then it counts among the messages that the consumer may have unaccepted. */
  deliverAgain(context, delayMs) {
    const rabbitmq = context as RabbitmqContext;
    setTimeout(() => {
      try {
        rabbitmq.getChannelRef().nack(rabbitmq.getMessage(), false, true);
      } catch {
        // The channel is closed, and with it the message went back to its queue.
      }
    }, delayMs).unref();
  },
};
