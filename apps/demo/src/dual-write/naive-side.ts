import type { Cleanup } from '../cleanup.js';
import { Child } from '../system/child.js';
import type { Database } from '../system/database.js';
import type { DatabaseServer } from '../system/database-server.js';
import { findFreePort } from '../system/free-port.js';
import { startNaiveReceiver } from './naive-receiver.js';
import { PATHS, type Path } from './paths.js';

const NAIVE_ORDER = new URL('./naive-order.js', import.meta.url);

/** Two databases and a receiver, written to one after the other. */
export class NaiveSide {
  private constructor(
    readonly orders: Database,
    readonly shipping: Database,
    private readonly receiverPort: number,
    private readonly cleanup: Cleanup,
  ) {}

  static async create(server: DatabaseServer, cleanup: Cleanup): Promise<NaiveSide> {
    const orders = await server.create('naive_orders');
    await orders.rows('create table orders (id uuid primary key)');
    const shipping = await server.create('naive_shipping');
    await shipping.rows(
      'create table shipments (id uuid primary key default gen_random_uuid(), order_id uuid not null)',
    );
    return new NaiveSide(orders, shipping, await findFreePort(), cleanup);
  }

  /** Places one order on each path, with the ids given. */
  async placeOrders(ids: Readonly<Record<Path, string>>): Promise<void> {
    await this.placeOrder('receiver-down', ids['receiver-down']);
    await startNaiveReceiver(this.shipping, this.receiverPort, this.cleanup);
    const others = PATHS.filter((path) => path !== 'receiver-down');
    await Promise.all(others.map((path) => this.placeOrder(path, ids[path])));
  }

  private async placeOrder(path: Path, orderId: string): Promise<void> {
    const child = new Child(`naive order, ${path}`, NAIVE_ORDER, {
      DATABASE_URL: this.orders.url,
      RECEIVER_URL: `http://127.0.0.1:${this.receiverPort}/events`,
      DUAL_WRITE_PATH: path,
      ORDER_ID: orderId,
    });
    await this.cleanup.add(child.name, () => child.stop());
    await child.endedAs(path.startsWith('crash') ? { signal: 'SIGKILL' } : { code: path === 'receiver-down' ? 1 : 0 });
  }
}
