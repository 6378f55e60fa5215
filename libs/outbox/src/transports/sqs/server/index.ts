export { SqsServer, type SqsServerOptions } from './sqs-server.js';
