import pg from 'pg';
import { die, readPath } from './dual-write-path.js';

// Places ORDER_ID by writing to DATABASE and then to RECEIVER, or the other way round, and goes wrong as DUAL_WRITE_PATH
// says. It is what applications without an outbox do.

const path = readPath(process.env.DUAL_WRITE_PATH);
const { DATABASE, RECEIVER = '', ORDER_ID } = process.env;

const client = new pg.Client(DATABASE);
await client.connect();
await client.query('begin');
await client.query('insert into orders (id) values ($1)', [ORDER_ID]);

if (path === 'rollback-after-send' || path === 'crash-after-send') {
  await send();
  if (path === 'crash-after-send') await die();
  await client.query('rollback');
} else {
  await client.query('commit');
  if (path === 'crash-after-commit') await die();
  await send();
}
await client.end();

async function send(): Promise<void> {
  const response = await fetch(RECEIVER, { method: 'POST', body: JSON.stringify({ orderId: ORDER_ID }) });
  if (!response.ok) throw new Error(`the receiver answered ${response.status}`);
}
