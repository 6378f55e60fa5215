// What an application needs to have shipping and inventory inside of it.
export { consumerModules } from './consumers.js';
export { shippingEntities, shippingMigrations } from './database/data-source-options.js';
