import { type AmqpMessage, toRawMessage } from './amqp-message.js';
import type { MessageSource } from './message-source.js';

/** What is used of `RmqContext`. */
interface RabbitmqContext {
  getMessage(): AmqpMessage;
  getChannelRef(): RabbitmqChannel;
}

interface RabbitmqChannel {
  ack(message: AmqpMessage): void;
  nack(message: AmqpMessage, allUpTo: boolean, requeue: boolean): void;
}

/** Messages of Nest's RabbitMQ server with `noAck: false`. */
export const rabbitmqSource: MessageSource = {
  name: 'RabbitMQ',
  redelivers: true,
  isSourceOf: (context) => 'getChannelRef' in context && 'getMessage' in context,
  raw: (context) => toRawMessage((context as RabbitmqContext).getMessage()),
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
