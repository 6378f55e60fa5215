export { InProcessTransport, type InProcessTransportOptions } from './in-process-transport.js';
