import { Kafka, type KafkaConfig, logLevel } from 'kafkajs';
import { ConfigurationError } from '../../errors/index.js';
import { requireWhole } from '../require-whole.js';
import { requireSource } from '../source.js';
import type { OutgoingEvent } from '../transport.js';
import type { KafkaProducer } from './kafka-producer.js';

export interface KafkaTransportOptions {
  /**
   * Where Kafka is, as KafkaJS takes it (`{ brokers: [...] }`), for an idempotent producer of its own; or a function that
   * makes a producer with the shape of KafkaJS's. It is asked again after a failure whose outcome nobody knows: an
   * idempotent producer that goes on counts from where it was, and the broker would take new events for the lost ones.
   */
  readonly kafka: KafkaConfig | (() => KafkaProducer);
  /** Default `outbox.event.` and the aggregate type. All events of an aggregate belong into one topic. */
  readonly topic?: (event: OutgoingEvent) => string;
  /** Largest payload in bytes that the topics take; a larger one is dead without being sent. Default 1,000,000. */
  readonly maxMessageBytes?: number;
  /** Milliseconds that the broker may take to acknowledge a batch; default 30,000, Kafka's own. */
  readonly ackTimeoutMs?: number;
  /** CloudEvents `source`: a URI reference of the producing application; default `/nestjs-transactional-outbox`. */
  readonly source?: string;
}

export interface ResolvedKafkaOptions {
  readonly createProducer: () => KafkaProducer;
  readonly topic: (event: OutgoingEvent) => string;
  readonly maxMessageBytes: number;
  readonly ackTimeoutMs: number;
  readonly source: string;
}

/** Within one publish; beyond it the dispatcher tries again, with a delay that is written down. */
const RETRIES = 1;

/** @throws ConfigurationError */
export function resolveKafkaOptions(options: KafkaTransportOptions): ResolvedKafkaOptions {
  return {
    createProducer: producerFactory(options.kafka),
    topic: options.topic ?? (({ envelope }) => `outbox.event.${envelope.aggregateType}`),
    maxMessageBytes: requireWhole('KafkaTransport', 'maxMessageBytes', options.maxMessageBytes ?? 1_000_000),
    ackTimeoutMs: requireWhole('KafkaTransport', 'ackTimeoutMs', options.ackTimeoutMs ?? 30_000),
    source: requireSource('KafkaTransport', options.source),
  };
}

function producerFactory(kafka: KafkaTransportOptions['kafka']): () => KafkaProducer {
  if (typeof kafka === 'function') return kafka;
  if (typeof kafka === 'object' && kafka !== null && 'brokers' in kafka) {
    const client = new Kafka({ logLevel: logLevel.NOTHING, ...kafka });
    return () => client.producer({ idempotent: true, retry: { retries: RETRIES } });
  }
  throw new ConfigurationError(
    'KafkaTransport: "kafka" must have "brokers" and what else KafkaJS takes, or be a function that makes a producer.',
  );
}
