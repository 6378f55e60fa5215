export { HttpTransport } from './http-transport.js';
export type { HttpTransportOptions } from './http-transport-options.js';
export type { HttpResponseHead, HttpResponseHeaders } from './response-outcome.js';
