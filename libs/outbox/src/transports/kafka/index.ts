export type { KafkaMessage, KafkaProducer } from './kafka-producer.js';
export { KafkaTransport } from './kafka-transport.js';
export type { KafkaTransportOptions } from './kafka-transport-options.js';
