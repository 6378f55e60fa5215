import type { SampleSystem } from '../system/sample-system.js';
import { untilDelivered, untilProcessed, untilUnreachable } from '../system/settled.js';
import { PATHS, type Path } from './paths.js';

/** The same paths through the sample applications, whose dispatcher runs all the time. */
export class OutboxSide {
  constructor(private readonly system: SampleSystem) {}

  /** Places one order on each path, with the ids given, and waits until all that was stated is delivered. */
  async placeOrders(ids: Readonly<Record<Path, string>>): Promise<void> {
    const { transport, ordersDatabase, shippingDatabase } = this.system;
    await this.system.stopReceiver();
    await this.placeOrder('receiver-down', ids['receiver-down']);
    if (transport === 'http') await untilUnreachable(ordersDatabase, 'shipping');
    // A broker takes it for the receiver. In process, there is nobody who could send it either.
    else if (transport !== 'in-process') await untilDelivered(ordersDatabase);
    await this.system.startReceiver();
    const others = PATHS.filter((path) => path !== 'receiver-down');
    await Promise.all(others.map((path) => this.placeOrder(path, ids[path])));
    await untilDelivered(ordersDatabase);
    await untilProcessed(ordersDatabase, shippingDatabase);
  }

  private async placeOrder(path: Path, orderId: string): Promise<void> {
    const child = await this.system.startOutboxOrder(path, orderId);
    await child.endedAs(path.startsWith('crash') ? { signal: 'SIGKILL' } : { code: 0 });
  }
}
