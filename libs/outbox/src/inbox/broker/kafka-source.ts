import type { RawMessage } from '../../store/index.js';
import { bodyOf } from './body-of.js';
import { headerTexts } from './header-texts.js';
import type { MessageSource } from './message-source.js';

/** What is used of `KafkaContext`. */
interface KafkaContext {
  getMessage(): {
    readonly offset: string;
    readonly value: unknown;
    readonly headers?: Readonly<Record<string, unknown>>;
  };
  getTopic(): string;
  getPartition(): number;
  getConsumer(): KafkaConsumer;
}

interface KafkaConsumer {
  commitOffsets(offsets: { topic: string; partition: number; offset: string }[]): Promise<void>;
  seek(position: { topic: string; partition: number; offset: string }): void;
  pause(partitions: { topic: string; partitions: number[] }[]): void;
  resume(partitions: { topic: string; partitions: number[] }[]): void;
}

/** Messages of Nest's Kafka server with `run: { autoCommit: false }`. */
export const kafkaSource: MessageSource = {
  name: 'Kafka',
  redelivers: true,
  isSourceOf: (context) => 'getPartition' in context && 'getConsumer' in context,
  raw(context): RawMessage {
    const kafka = context as KafkaContext;
    const { offset, value, headers } = kafka.getMessage();
    const texts = headerTexts(headers);
    return {
      source: `Kafka topic "${kafka.getTopic()}", partition ${kafka.getPartition()}, offset ${offset}`,
      contentType: texts['content-type'] ?? '',
      headers: texts,
      body: bodyOf(value),
    };
  },
  async accept(context) {
    const { topic, partition, offset } = positionOf(context as KafkaContext);
    const next = String(BigInt(offset) + 1n);
    await (context as KafkaContext).getConsumer().commitOffsets([{ topic, partition, offset: next }]);
  },
  /**
   * An error would make KafkaJS try again on its own and then stop the consumer. So the partition is put back to this
   * message and rests; the others go on. What comes behind it waits, because offsets are committed in order.
   */
  deliverAgain(context, delayMs) {
    const consumer = (context as KafkaContext).getConsumer();
    const position = positionOf(context as KafkaContext);
    const partitions = [{ topic: position.topic, partitions: [position.partition] }];
    consumer.seek(position);
    consumer.pause(partitions);
    setTimeout(() => {
      try {
        consumer.resume(partitions);
      } catch {
        // The consumer has ended or left the group; whoever gets the partition starts at the committed offset.
      }
    }, delayMs).unref();
  },
};

function positionOf(kafka: KafkaContext): { topic: string; partition: number; offset: string } {
  return { topic: kafka.getTopic(), partition: kafka.getPartition(), offset: kafka.getMessage().offset };
}
