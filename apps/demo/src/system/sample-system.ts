import { randomBytes } from 'node:crypto';
import type { Cleanup } from '../cleanup.js';
import { Child } from './child.js';
import type { Database } from './database.js';
import type { DatabaseServer } from './database-server.js';
import { findFreePort } from './free-port.js';

const ORDERS = new URL('../../../orders/dist/main.js', import.meta.url);
const SHIPPING = new URL('../../../shipping/dist/main.js', import.meta.url);
const DOOMED_DISPATCHER = new URL('../doomed-dispatcher/main.js', import.meta.url);
const OUTBOX_ORDER = new URL('../dual-write/outbox-order.js', import.meta.url);

/** The two sample applications with their databases; every process of them is a real one. */
export class SampleSystem {
  ordersUrl = '';
  private readonly secret = `whsec_${randomBytes(32).toString('base64')}`;

  private constructor(
    readonly ordersDatabase: Database,
    readonly shippingDatabase: Database,
    private readonly shippingPort: number,
    private readonly cleanup: Cleanup,
  ) {}

  static async create(server: DatabaseServer, cleanup: Cleanup): Promise<SampleSystem> {
    const orders = await server.create('orders');
    return new SampleSystem(orders, await server.create('shipping'), await findFreePort(), cleanup);
  }

  get shippingUrl(): string {
    return `http://127.0.0.1:${this.shippingPort}`;
  }

  async startShipping(): Promise<Child> {
    const child = await this.start('shipping', SHIPPING, {
      DATABASE_URL: this.shippingDatabase.url,
      PORT: String(this.shippingPort),
    });
    await child.started(/^shipping listens on/);
    return child;
  }

  async startApi(): Promise<Child> {
    const child = await this.start('orders (api)', ORDERS, {
      ...this.ordersEnvironment(),
      ROLE: 'api',
      PORT: '0',
      NODE_ENV: 'development',
    });
    const [, url] = await child.started(/^orders \(api\) listens on (\S+)$/);
    this.ordersUrl = url ?? '';
    return child;
  }

  async startDispatcher(): Promise<Child> {
    const child = await this.start('orders (dispatcher)', ORDERS, { ...this.ordersEnvironment(), ROLE: 'dispatcher' });
    await child.started(/^orders \(dispatcher\) runs$/);
    return child;
  }

  /** A dispatcher that dies after it has sent `events` to `shipping` and before it has marked any of them. */
  startDoomedDispatcher(events: number): Promise<Child> {
    return this.start('the doomed dispatcher', DOOMED_DISPATCHER, {
      ...this.ordersEnvironment(),
      DIES_AFTER: String(events),
    });
  }

  startOutboxOrder(path: string, orderId: string): Promise<Child> {
    return this.start(`outbox order, ${path}`, OUTBOX_ORDER, {
      ...this.ordersEnvironment(),
      DUAL_WRITE_PATH: path,
      ORDER_ID: orderId,
    });
  }

  private ordersEnvironment(): Record<string, string> {
    return {
      DATABASE_URL: this.ordersDatabase.url,
      SHIPPING_URL: `${this.shippingUrl}/events/shipping`,
      INVENTORY_URL: `${this.shippingUrl}/events/inventory`,
    };
  }

  private async start(name: string, program: URL, environment: Record<string, string>): Promise<Child> {
    const child = new Child(name, program, { MIGRATIONS: 'run', WEBHOOK_SECRET: this.secret, ...environment });
    await this.cleanup.add(name, () => child.stop());
    return child;
  }
}
