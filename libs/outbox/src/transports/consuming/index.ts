export { type ConsumedMessage, MessageContext, type Settlement } from './message-context.js';
export { MessageServer, type ReadMessage } from './message-server.js';
export { readParts } from './read-parts.js';
