export { RedisStreamsServer } from './redis-streams-server.js';
export type { RedisStreamsServerOptions } from './redis-streams-server-options.js';
