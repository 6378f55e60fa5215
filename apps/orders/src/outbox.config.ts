import { defineOutboxConfig } from 'nestjs-transactional-outbox';
import { readEnvironment } from 'sample-support';
import { dataSourceOptions } from './database/data-source-options.js';
import { Environment } from './environment.js';
import { outboxOptions } from './outbox-options.js';

// For the command line: npx outbox status --config apps/orders/dist/outbox.config.js
export default defineOutboxConfig(async () => {
  const environment = readEnvironment(Environment, process.env);
  return {
    dataSource: dataSourceOptions(environment.DATABASE_URL),
    outbox: await outboxOptions(environment),
  };
});
