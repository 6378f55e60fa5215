export { defineOutboxConfig, type OutboxConfig, type OutboxConfigSource } from './configuration/outbox-config.js';
