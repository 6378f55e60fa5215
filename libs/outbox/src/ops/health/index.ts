export { OutboxHealthIndicator } from './outbox-health.indicator.js';
