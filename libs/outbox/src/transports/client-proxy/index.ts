export {
  ClientProxyTransport,
  type ClientProxyTransportOptions,
  type EmittingClient,
} from './client-proxy-transport.js';
