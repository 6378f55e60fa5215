export { SqsTransport } from './sqs-transport.js';
export type { SqsTransportOptions } from './sqs-transport-options.js';
