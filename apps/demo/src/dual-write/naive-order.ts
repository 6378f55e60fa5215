import pg from 'pg';
import { crash, readPath } from './paths.js';

// Program: places one order by writing to its database and then to the receiver, or the other way round. Neither way
// is safe: compare outbox-order.ts.

const path = readPath(process.env.DUAL_WRITE_PATH);
const { DATABASE_URL, RECEIVER_URL = '', ORDER_ID } = process.env;

const client = new pg.Client(DATABASE_URL);
await client.connect();
await client.query('begin');
await client.query('insert into orders (id) values ($1)', [ORDER_ID]);

if (path === 'rollback-after-send' || path === 'crash-after-send') {
  await send();
  if (path === 'crash-after-send') await crash();
  await client.query('rollback');
} else {
  await client.query('commit');
  if (path === 'crash-after-commit') await crash();
  await send();
}
await client.end();

async function send(): Promise<void> {
  const response = await fetch(RECEIVER_URL, { method: 'POST', body: JSON.stringify({ orderId: ORDER_ID }) });
  if (!response.ok) throw new Error(`the receiver answered ${response.status}`);
}
