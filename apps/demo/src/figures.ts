import { isDeepStrictEqual } from 'node:util';
import type { TransportName } from 'sample-support';
import type { DualWriteFigures } from './dual-write/discrepancies.js';
import type { Database } from './system/database.js';

export interface ConsumerFigures {
  /** Deliveries of `order.placed` that came in. */
  readonly received: number;
  /** How many events these were. */
  readonly distinct: number;
}

/** What the demo claims. Each number is counted in the databases after the fact. */
export interface Figures extends ConsumerFigures {
  readonly orders: number;
  readonly shipments: number;
  /** Orders with more than one shipment. */
  readonly doubleShipments: number;
  /** Events that were committed and that one of its consumers has not processed. */
  readonly lost: number;
  /** Deliveries of an event of an order after a later event of the same order, to the same consumer. */
  readonly outOfOrder: number;
  readonly inventory: ConsumerFigures & { readonly reservations: number };
}

export type AllFigures = Figures & { readonly transport: TransportName; readonly dualWrite?: DualWriteFigures };

/** Those that drop a second copy of an event by its id, at least for the minutes that the demo takes. */
const DROPS_COPIES: readonly TransportName[] = ['nats', 'sqs'];

/** Whether what is sent a second time comes a second time. */
export function bringsCopies(transport: TransportName): boolean {
  return !DROPS_COPIES.includes(transport);
}

export async function countFigures(orders: Database, shipping: Database): Promise<Figures> {
  return {
    orders: await orders.count('select count(*) from orders'),
    ...(await countConsumer(shipping, 'shipping')),
    shipments: await shipping.count('select count(*) from shipments'),
    doubleShipments: await shipping.count(
      'select count(*) from (select from shipments group by order_id having count(*) > 1) twice',
    ),
    lost: await countLost(orders, shipping),
    outOfOrder: await countOutOfOrder(shipping),
    inventory: {
      ...(await countConsumer(shipping, 'inventory')),
      reservations: await shipping.count('select count(*) from reservations'),
    },
  };
}

/** What must come out: the first dispatcher sends `resent` events to shipping and dies before it marks them. */
export function expectedFigures(transport: TransportName, orders: number, resent: number): AllFigures {
  return {
    transport,
    orders,
    received: bringsCopies(transport) ? orders + resent : orders,
    distinct: orders,
    shipments: orders,
    doubleShipments: 0,
    lost: 0,
    outOfOrder: 0,
    inventory: { received: orders, distinct: orders, reservations: orders },
    dualWrite: { naive: { ghosts: 2, missing: 2 }, outbox: { ghosts: 0, missing: 0 } },
  };
}

/** One line for each figure that is not as it must be. */
export function differences(actual: AllFigures, expected: AllFigures): string[] {
  const wrong = Object.entries(expected).filter(
    ([name, value]) => !isDeepStrictEqual(actual[name as keyof AllFigures], value), // a name of `expected` is one of both
  );
  return wrong.map(
    ([name, value]) =>
      `${name} is ${JSON.stringify(actual[name as keyof AllFigures])} and should be ${JSON.stringify(value)}`,
  );
}

export async function countConsumer(shipping: Database, consumer: string): Promise<ConsumerFigures> {
  const placed = "from receipts where type = 'order.placed' and consumer = $1";
  return {
    received: await shipping.count(`select count(*) ${placed}`, [consumer]),
    distinct: await shipping.count(`select count(distinct event_id) ${placed}`, [consumer]),
  };
}

/** Events that were committed and that one of its consumers has not processed. */
export async function countLost(orders: Database, shipping: Database): Promise<number> {
  const stated = await orders.rows<{ event_id: string; destination: string }>(
    'select event_id, destination from outbox_event_status',
  );
  // Each destination is named as the consumer that it leads to.
  return shipping.count(
    `select count(*) from unnest($1::text[], $2::text[]) as stated(event_id, consumer_name)
     where not exists (
       select from processed_events p where p.event_id = stated.event_id and p.consumer_name = stated.consumer_name)`,
    [stated.map((row) => row.event_id), stated.map((row) => row.destination)],
  );
}

function countOutOfOrder(shipping: Database): Promise<number> {
  return shipping.count(
    `select count(*) from (
       select sequence, max(sequence) over (
         partition by consumer, aggregate_id order by id rows between unbounded preceding and 1 preceding
       ) as furthest from receipts
     ) arrivals where sequence < furthest`,
  );
}
