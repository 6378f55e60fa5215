export { OrderCancelled } from './order-cancelled.event.js';
export { OrderPaid } from './order-paid.event.js';
export { OrderPlaced } from './order-placed.event.js';
