export { InMemoryBreakerStore } from './in-memory-breaker-store.js';
export { InMemoryDeadLetterStore } from './in-memory-dead-letter-store.js';
export { InMemoryDeliveryStore } from './in-memory-delivery-store.js';
export {
  type Clock,
  type InMemoryDelivery,
  type InMemoryDestination,
  type InMemoryLane,
  InMemoryQueue,
  type NewDelivery,
} from './in-memory-queue.js';
