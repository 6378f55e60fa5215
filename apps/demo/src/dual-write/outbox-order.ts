import { NestFactory } from '@nestjs/core';
import { OutboxService } from 'nestjs-transactional-outbox';
import { OrderPlaced } from 'order-events';
import { appModule, Environment, outboxOptions } from 'orders-app';
import { readEnvironment } from 'sample-support';
import type { EntityManager } from 'typeorm';
import { crash, readPath } from './paths.js';

// Program: places one order and states the event in the same transaction, in the orders application's database. Sending
// is the dispatcher's work, so nothing is left in between: compare naive-order.ts.

const path = readPath(process.env.DUAL_WRITE_PATH);
const { ORDER_ID = '' } = process.env;
const environment = readEnvironment(Environment, process.env);

const module = await appModule(environment, await outboxOptions(environment));
const app = await NestFactory.createApplicationContext(module, { logger: ['error', 'warn'] });
const outbox = app.get(OutboxService);
const order = { sku: 'TEA-WHITE', quantity: 1, amountCents: 1500 };

try {
  await outbox.transaction(placeOrder);
} catch (error) {
  if (path !== 'rollback-after-send') throw error;
}
if (path === 'crash-after-commit') await crash();
await app.close();

async function placeOrder(manager: EntityManager): Promise<void> {
  await manager.query('insert into orders (id, sku, quantity, amount_cents) values ($1, $2, $3, $4)', [
    ORDER_ID,
    order.sku,
    order.quantity,
    order.amountCents,
  ]);
  await outbox.emit(Object.assign(new OrderPlaced(), { ...order, orderId: ORDER_ID }));
  if (path === 'crash-after-send') await crash();
  if (path === 'rollback-after-send') throw new Error('changed my mind');
}
