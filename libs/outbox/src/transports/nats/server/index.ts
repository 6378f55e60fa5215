export { JetStreamServer, type JetStreamServerOptions } from './jetstream-server.js';
