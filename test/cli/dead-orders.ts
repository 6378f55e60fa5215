import { randomUUID } from 'node:crypto';
import { MemoryTransport } from 'nestjs-transactional-outbox/memory';
import { noted, OrderNoted, OrderStep, type OutboxApp, startOutboxApp, step } from '../support/outbox-app.js';

export interface DeadOrders {
  readonly app: OutboxApp;
  /** What the command line is given for this database. */
  readonly env: Readonly<Record<string, string>>;
  /** The aggregate whose first event is dead, and whose second waits behind it. */
  readonly blockedOrder: string;
}

/**
 * The sample application's destinations: `inventory` takes everything, `shipping` refuses everything. Three dead
 * letters, one of them before an event that waits, and four delivered events.
 */
export async function startDeadOrders(): Promise<DeadOrders> {
  const shipping = new MemoryTransport({ respond: () => ({ kind: 'dead', error: 'answered 422' }) });
  const inventory = new MemoryTransport();
  const app = await startOutboxApp({
    outbox: {
      destinations: { shipping: { transport: shipping }, inventory: { transport: inventory } },
      routes: [{ events: [OrderNoted, OrderStep], to: ['shipping', 'inventory'] }],
    },
  });
  const blockedOrder = randomUUID();
  const events = [noted(randomUUID()), noted(randomUUID()), step(blockedOrder, 1), step(blockedOrder, 2)];
  await app.outbox.transaction(() => app.outbox.emit(events));
  await app.dispatcher.drain();
  return { app, env: { DATABASE_URL: app.database.url }, blockedOrder };
}
