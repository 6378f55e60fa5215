import type { OutboxNames } from '../table-names.js';
import { eventLogAndDeliveryQueue } from './outbox-0001-event-log-and-delivery-queue.js';
import type { SchemaComponent } from './schema-component.js';
import { postgresDialect } from './schema-dialect.js';

/** The producing side's tables. A step that was released is never changed; changes come as new steps. */
export function outboxComponent(names: OutboxNames): SchemaComponent {
  return {
    name: 'outbox',
    dialect: postgresDialect,
    schema: names.schema,
    versionTable: names.version,
    steps: [eventLogAndDeliveryQueue(names)],
  };
}
