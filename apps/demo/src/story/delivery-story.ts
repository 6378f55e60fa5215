import { bringsCopies, countConsumer, countFigures, type Figures } from '../figures.js';
import type { Narrator } from '../narrator.js';
import { OrdersClient, type PlacedOrder } from '../system/orders-client.js';
import type { SampleSystem } from '../system/sample-system.js';
import { untilDelivered, untilProcessed, untilReceived } from '../system/settled.js';

/** Orders are placed; the dispatcher dies in the middle of its work; its successor finishes it. */
export class DeliveryStory {
  private readonly client: OrdersClient;

  constructor(
    private readonly system: SampleSystem,
    private readonly narrator: Narrator,
  ) {
    this.client = new OrdersClient(system.ordersUrl);
  }

  /**
   * @param expected how many orders to place, and how many deliveries to wait for.
   * @param resent how many events the first dispatcher sends before it dies.
   */
  async tell({ orders: count, received }: Figures, resent: number): Promise<Figures> {
    const placed = await this.placeOrders(count);
    await this.loseDispatcher(count, resent);
    await this.payAndCancel(placed);
    await this.startSuccessor(received);
    return this.countEverything(resent);
  }

  private async placeOrders(count: number): Promise<PlacedOrder[]> {
    const { narrator, system } = this;
    narrator.chapter(`${plural(count, 'order')} placed over HTTP. No dispatcher runs yet.`);
    const placed: PlacedOrder[] = [];
    for (let number = 1; number <= count; number += 1) placed.push(await this.client.place(number));
    const orders = await system.ordersDatabase.count('select count(*) from orders');
    const events = await system.ordersDatabase.count('select count(*) from outbox_event');
    const { received } = await countConsumer(system.shippingDatabase, 'shipping');
    narrator.say(
      `committed: ${plural(orders, 'order')} and ${plural(events, 'event')}, each with its order in one transaction`,
    );
    narrator.say(`received by shipping: ${received}`);
    return placed;
  }

  private async loseDispatcher(count: number, resent: number): Promise<void> {
    const { narrator, system } = this;
    narrator.chapter(`A dispatcher sends ${resent} of ${count} to "shipping", and is killed before it marks them.`);
    const dispatcher = await system.startDoomedDispatcher(resent);
    await dispatcher.endedAs({ signal: 'SIGKILL' });
    await untilReceived(system.shippingDatabase, resent); // a broker may still be about to bring them
    const ofShipping = "from outbox_event_status where destination = 'shipping'";
    const marked = await system.ordersDatabase.count(`select count(*) ${ofShipping} and state = 'done'`);
    const leased = await system.ordersDatabase.count(`select count(*) ${ofShipping} and state = 'processing'`);
    const { received } = await countConsumer(system.shippingDatabase, 'shipping');
    narrator.say(`process ${dispatcher.pid} ended by SIGKILL`);
    narrator.say(
      `received by shipping: ${received}; marked as delivered: ${marked}; still leased by the dead process: ${leased}`,
    );
  }

  private async payAndCancel(placed: readonly PlacedOrder[]): Promise<void> {
    const paid = placed.slice(0, Math.ceil(placed.length / 2));
    const cancelled = placed.slice(0, Math.ceil(placed.length / 5));
    this.narrator.chapter('The orders application goes on without a dispatcher.');
    for (const order of paid) await this.client.pay(order);
    for (const order of cancelled) await this.client.cancel(order, 'ordered twice by mistake');
    this.narrator.say(`paid over HTTP: ${paid.length}; cancelled: ${cancelled.length}`);
    this.narrator.say('these events wait behind order.placed of their order, which is still under the lease');
  }

  private async startSuccessor(received: number): Promise<void> {
    const { narrator, system } = this;
    narrator.chapter('Its successor starts. When the lease of the dead one has ended, it takes everything over.');
    const startedAt = performance.now();
    const dispatcher = await system.startDispatcher();
    await untilDelivered(system.ordersDatabase);
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
    narrator.say(`process ${dispatcher.pid} delivered all of it within ${seconds} s`);
    await untilProcessed(system.ordersDatabase, system.shippingDatabase);
    await untilReceived(system.shippingDatabase, received);
  }

  private async countEverything(resent: number): Promise<Figures> {
    const { narrator, system } = this;
    const rows = await system.shippingDatabase.rows<{
      consumer: string;
      type: string;
      received: number;
      distinct: number;
    }>(
      `select consumer, type, count(*)::int as received, count(distinct event_id)::int as distinct
       from receipts group by consumer, type order by consumer desc, min(id)`,
    );
    narrator.table(
      ['consumer', 'event', 'received', 'distinct'],
      rows.map(({ consumer, type, received, distinct }) => [consumer, type, received, distinct]),
    );
    const figures = await countFigures(system.ordersDatabase, system.shippingDatabase);
    const { received, distinct, shipments, doubleShipments } = figures;
    narrator.say(`order.placed at shipping: ${received} received, ${distinct} distinct, ${shipments} shipped.`);
    narrator.say(
      bringsCopies(system.transport)
        ? `${resent} came twice, because nobody knew that they had arrived. Shipped twice: ${doubleShipments}; without the inbox: ${received - distinct}.`
        : `${resent} were sent twice, because nobody knew that they had arrived; the broker dropped their second copies. Shipped twice: ${doubleShipments}.`,
    );
    narrator.say(`lost: ${figures.lost}; out of order: ${figures.outOfOrder}`);
    return figures;
  }
}

function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
