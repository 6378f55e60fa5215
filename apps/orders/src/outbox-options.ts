import type { OutboxModuleOptions } from 'nestjs-transactional-outbox';
import { HttpTransport } from 'nestjs-transactional-outbox/http';
import { OrderCancelled, OrderPaid, OrderPlaced } from 'order-events';
import type { Environment } from './environment.js';

/** Which events go where. The same in every process: who emits writes down the destinations, who dispatches serves them. */
export function outboxOptions(environment: Environment): OutboxModuleOptions {
  const { SHIPPING_URL, INVENTORY_URL, WEBHOOK_SECRET, ROLE } = environment;
  const receiver = (url: string): HttpTransport =>
    new HttpTransport({ url, secret: WEBHOOK_SECRET, source: '/orders' });
  return {
    destinations: {
      shipping: { transport: receiver(SHIPPING_URL) },
      inventory: { transport: receiver(INVENTORY_URL) },
    },
    routes: [
      { events: [OrderPlaced, OrderPaid, OrderCancelled], to: ['shipping'] },
      { events: [OrderPlaced, OrderCancelled], to: ['inventory'] },
    ],
    dispatcher: { enabled: ROLE !== 'api' },
  };
}
