import { randomBytes } from 'node:crypto';
import type { TransportName } from 'sample-support';
import type { Carrier } from '../brokers/broker.js';
import type { Cleanup } from '../cleanup.js';
import { Child } from './child.js';
import type { Database } from './database.js';
import type { DatabaseServer } from './database-server.js';
import { findFreePort } from './free-port.js';

const ORDERS = new URL('../../../orders/dist/main.js', import.meta.url);
const SHIPPING = new URL('../../../shipping/dist/main.js', import.meta.url);
const DOOMED_DISPATCHER = new URL('../doomed-dispatcher/main.js', import.meta.url);
const OUTBOX_ORDER = new URL('../dual-write/outbox-order.js', import.meta.url);

export interface SystemParts {
  readonly server: DatabaseServer;
  readonly transport: TransportName;
  readonly carrier: Carrier;
  readonly cleanup: Cleanup;
}

/** The two sample applications with their databases; every process of them is a real one. */
export class SampleSystem {
  ordersUrl = '';
  private receiver: Child | undefined;
  private readonly secret = `whsec_${randomBytes(32).toString('base64')}`;

  private constructor(
    readonly ordersDatabase: Database,
    readonly shippingDatabase: Database,
    private readonly shippingPort: number,
    private readonly parts: SystemParts,
  ) {}

  static async create(parts: SystemParts): Promise<SampleSystem> {
    const orders = await parts.server.create('orders');
    const shipping = parts.transport === 'in-process' ? orders : await parts.server.create('shipping');
    return new SampleSystem(orders, shipping, await findFreePort(), parts);
  }

  get transport(): TransportName {
    return this.parts.transport;
  }

  /** In process, shipping is a part of orders. */
  get shippingUrl(): string {
    return this.transport === 'in-process' ? this.ordersUrl : `http://127.0.0.1:${this.shippingPort}`;
  }

  /** All but the dispatcher. */
  async startApplications(): Promise<void> {
    if (this.transport === 'in-process') await this.startApi();
    else await Promise.all([this.startShipping(), this.startApi()]);
  }

  /** Where the events are received: the application shipping; in process, where the dispatcher runs. */
  async startReceiver(): Promise<void> {
    await (this.transport === 'in-process' ? this.startDispatcher() : this.startShipping());
  }

  async stopReceiver(): Promise<void> {
    await this.receiver?.stop();
  }

  private async startShipping(): Promise<void> {
    const child = await this.start('shipping', SHIPPING, {
      DATABASE_URL: this.shippingDatabase.url,
      PORT: String(this.shippingPort),
    });
    await child.started(/^shipping listens on/);
    this.receiver = child;
  }

  private async startApi(): Promise<void> {
    const child = await this.start('orders (api)', ORDERS, {
      ...this.ordersEnvironment(),
      ROLE: 'api',
      PORT: '0',
      NODE_ENV: 'development',
    });
    const [, url] = await child.started(/^orders \(api\) listens on (\S+)$/);
    this.ordersUrl = url ?? '';
  }

  async startDispatcher(): Promise<Child> {
    const child = await this.start('orders (dispatcher)', ORDERS, { ...this.ordersEnvironment(), ROLE: 'dispatcher' });
    await child.started(/^orders \(dispatcher\) runs$/);
    if (this.transport === 'in-process') this.receiver = child;
    return child;
  }

  /** A dispatcher that dies after it has sent `events` to `shipping` and before it has marked any of them. */
  startDoomedDispatcher(events: number): Promise<Child> {
    return this.start('the doomed dispatcher', DOOMED_DISPATCHER, {
      ...this.ordersEnvironment(),
      ROLE: 'dispatcher',
      MIGRATIONS: 'skip',
      DIES_AFTER: String(events),
    });
  }

  startOutboxOrder(path: string, orderId: string): Promise<Child> {
    return this.start(`outbox order, ${path}`, OUTBOX_ORDER, {
      ...this.ordersEnvironment(),
      ROLE: 'api',
      MIGRATIONS: 'skip', // they have run
      DUAL_WRITE_PATH: path,
      ORDER_ID: orderId,
    });
  }

  private ordersEnvironment(): Record<string, string> {
    const database = { DATABASE_URL: this.ordersDatabase.url };
    if (this.transport !== 'http') return database;
    return {
      ...database,
      SHIPPING_URL: `${this.shippingUrl}/events/shipping`,
      INVENTORY_URL: `${this.shippingUrl}/events/inventory`,
    };
  }

  private async start(name: string, program: URL, environment: Record<string, string>): Promise<Child> {
    const common = { MIGRATIONS: 'run', WEBHOOK_SECRET: this.secret, ...this.parts.carrier.environment };
    const child = new Child(name, program, { ...common, ...environment });
    await this.parts.cleanup.add(name, () => child.stop());
    return child;
  }
}
