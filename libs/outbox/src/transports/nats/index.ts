export { NatsTransport } from './nats-transport.js';
export type { NatsTransportOptions } from './nats-transport-options.js';
