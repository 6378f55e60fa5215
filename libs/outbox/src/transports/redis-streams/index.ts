export { RedisStreamsTransport } from './redis-streams-transport.js';
export type { RedisStreamsTransportOptions } from './redis-streams-transport-options.js';
