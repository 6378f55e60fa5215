import type { Database } from '../system/database.js';

export interface Discrepancies {
  /** Shipments of orders that do not exist. */
  readonly ghosts: number;
  /** Orders without a shipment. */
  readonly missing: number;
}

export interface DualWriteFigures {
  readonly naive: Discrepancies;
  readonly outbox: Discrepancies;
}

/** Compares what one database says with what happened in the other. */
export async function countDiscrepancies(orders: Database, shipping: Database): Promise<Discrepancies> {
  const ids = (await orders.rows<{ id: string }>('select id from orders')).map(({ id }) => id);
  return {
    ghosts: await shipping.count('select count(*) from shipments where order_id <> all($1::uuid[])', [ids]),
    missing: await shipping.count(
      'select count(*) from unnest($1::uuid[]) as o(id) where not exists (select from shipments where order_id = o.id)',
      [ids],
    ),
  };
}

/** What became of one order. */
export interface Fate {
  readonly order: number;
  readonly shipments: number;
}

export async function fateOf(orderId: string, orders: Database, shipping: Database): Promise<Fate> {
  return {
    order: await orders.count('select count(*) from orders where id = $1', [orderId]),
    shipments: await shipping.count('select count(*) from shipments where order_id = $1', [orderId]),
  };
}
