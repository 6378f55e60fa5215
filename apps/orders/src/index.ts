// What the demo's programs take from the application, so that they differ from it only in how they end.
export { appModule } from './app.module.js';
export { Environment } from './environment.js';
export { outboxOptions } from './outbox-options.js';
