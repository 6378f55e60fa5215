export { MemoryTransport, type MemoryTransportOptions } from './memory-transport.js';
