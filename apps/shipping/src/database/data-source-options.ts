import { inboxMigrations, type MigrationClass } from 'nestjs-transactional-outbox';
import type { DataSourceOptions } from 'typeorm';
import { Reservation } from '../inventory/reservation.entity.js';
import { Receipt } from '../receipts/receipt.entity.js';
import { Shipment } from '../shipments/shipment.entity.js';
import { CreateShipping1764300000000 } from './1764300000000-create-shipping.js';

export const shippingEntities = [Shipment, Reservation, Receipt];

export function shippingMigrations(): MigrationClass[] {
  return [CreateShipping1764300000000, ...inboxMigrations()];
}

/** What the events cause and the records that they were processed live in one database: one transaction covers both. */
export function dataSourceOptions(url: string): DataSourceOptions {
  return {
    type: 'postgres',
    url,
    applicationName: 'shipping',
    entities: shippingEntities,
    migrations: shippingMigrations(),
    // gen_random_uuid() is part of PostgreSQL itself.
    uuidExtension: 'pgcrypto',
    installExtensions: false,
  };
}
