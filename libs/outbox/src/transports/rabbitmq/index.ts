export { RabbitmqTransport } from './rabbitmq-transport.js';
export type { RabbitmqTransportOptions } from './rabbitmq-transport-options.js';
