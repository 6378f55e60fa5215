import { inboxMigrations } from 'nestjs-transactional-outbox';
import type { DataSourceOptions } from 'typeorm';
import { Reservation } from '../inventory/reservation.entity.js';
import { Receipt } from '../receipts/receipt.entity.js';
import { Shipment } from '../shipments/shipment.entity.js';
import { CreateShipping1764300000000 } from './1764300000000-create-shipping.js';

/** What the events cause and the records that they were processed live in one database: one transaction covers both. */
export function dataSourceOptions(url: string): DataSourceOptions {
  return {
    type: 'postgres',
    url,
    applicationName: 'shipping',
    entities: [Shipment, Reservation, Receipt],
    migrations: [CreateShipping1764300000000, ...inboxMigrations()],
    // gen_random_uuid() is part of PostgreSQL itself.
    uuidExtension: 'pgcrypto',
    installExtensions: false,
  };
}
