import type { Child } from '../system/child.js';
import type { SampleSystem } from '../system/sample-system.js';
import { untilDelivered, untilUnreachable } from '../system/settled.js';
import { PATHS, type Path } from './paths.js';

/** The same paths through the sample applications, whose dispatcher runs all the time. */
export class OutboxSide {
  constructor(
    private readonly system: SampleSystem,
    private readonly shipping: Child,
  ) {}

  /** Places one order on each path, with the ids given, and waits until all that was stated is delivered. */
  async placeOrders(ids: Readonly<Record<Path, string>>): Promise<void> {
    await this.shipping.stop();
    await this.placeOrder('receiver-down', ids['receiver-down']);
    await untilUnreachable(this.system.ordersDatabase, 'shipping');
    await this.system.startShipping();
    const others = PATHS.filter((path) => path !== 'receiver-down');
    await Promise.all(others.map((path) => this.placeOrder(path, ids[path])));
    await untilDelivered(this.system.ordersDatabase);
  }

  private async placeOrder(path: Path, orderId: string): Promise<void> {
    const child = await this.system.startOutboxOrder(path, orderId);
    await child.endedAs(path.startsWith('crash') ? { signal: 'SIGKILL' } : { code: 0 });
  }
}
