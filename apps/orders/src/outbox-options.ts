import type { OutboxModuleOptions } from 'nestjs-transactional-outbox';
import { OrderCancelled, OrderPaid, OrderPlaced } from 'order-events';
import type { Environment } from './environment.js';
import { loadTransport } from './transports/load-transport.js';

/** Which events go where. The same in every process: who emits writes down the destinations, who dispatches serves them. */
export async function outboxOptions(environment: Environment) {
  const transportTo = await loadTransport(environment);
  return {
    destinations: {
      shipping: { transport: transportTo('shipping') },
      inventory: { transport: transportTo('inventory') },
    },
    routes: [
      { events: [OrderPlaced, OrderPaid, OrderCancelled], to: ['shipping'] },
      { events: [OrderPlaced, OrderCancelled], to: ['inventory'] },
    ],
    retention: { deliveredForMs: 30 * 24 * 3_600_000 },
    dispatcher: { enabled: environment.ROLE !== 'api' },
  } satisfies OutboxModuleOptions;
}
