export type { DispatchSummary } from './dispatch-summary.js';
export { OutboxDispatcher } from './outbox-dispatcher.js';
