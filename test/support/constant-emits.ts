import { randomUUID } from 'node:crypto';
import type { OutboxApp } from './outbox-app.js';

/** Business transactions that go on until they are stopped. */
export interface ConstantEmits {
  /** How many have been committed. */
  readonly count: number;
  /** Ids of the orders that were committed. @throws the error of the first transaction that failed. */
  stop(): Promise<string[]>;
}

/** Places orders, each with its event, by several writers, one after the other each. */
export function emitConstantly(app: OutboxApp, writers = 3): ConstantEmits {
  const placed: string[] = [];
  let isStopping = false;
  const write = async (): Promise<void> => {
    while (!isStopping) {
      const id = randomUUID();
      await app.service.place(app.orders.create({ id, amountCents: 1 }));
      placed.push(id);
    }
  };
  const running = Promise.all(Array.from({ length: writers }, write));
  running.catch(() => undefined); // stop() says so
  return {
    get count() {
      return placed.length;
    },
    async stop() {
      isStopping = true;
      await running;
      return placed;
    },
  };
}
