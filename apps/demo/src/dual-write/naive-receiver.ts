import { once } from 'node:events';
import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';
import type { Cleanup } from '../cleanup.js';
import type { Database } from '../system/database.js';

/** Makes a shipment of whatever arrives, as often as it arrives. */
export async function startNaiveReceiver(database: Database, port: number, cleanup: Cleanup): Promise<void> {
  const server = createServer(async (request, response) => {
    try {
      const { orderId } = (await json(request)) as { orderId: string }; // only naive-order.ts sends here
      await database.rows('insert into shipments (order_id) values ($1)', [orderId]);
      response.end();
    } catch (error) {
      response.writeHead(500).end(String(error));
    }
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  await cleanup.add('the naive receiver', async () => {
    server.close();
    server.closeAllConnections();
  });
}
