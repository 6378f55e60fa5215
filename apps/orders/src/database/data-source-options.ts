import { outboxMigrations } from 'nestjs-transactional-outbox';
import type { DataSourceOptions } from 'typeorm';
import { Order } from '../orders/order.entity.js';
import { CreateOrders1764300000000 } from './1764300000000-create-orders.js';

/** The application's own tables and those of its outbox live in one database, so that one transaction covers both. */
export function dataSourceOptions(url: string) {
  return {
    type: 'postgres',
    url,
    applicationName: 'orders',
    entities: [Order],
    migrations: [CreateOrders1764300000000, ...outboxMigrations()],
    // gen_random_uuid() is part of PostgreSQL itself.
    uuidExtension: 'pgcrypto',
    installExtensions: false,
  } satisfies DataSourceOptions;
}
