import { resolveTables } from '../../config/index.js';
import { type OutboxNames, quoteIdentifier } from '../table-names.js';
import { componentKey } from './component-key.js';
import { eventLogAndDeliveryQueue } from './outbox-0001-event-log-and-delivery-queue.js';
import { operations } from './outbox-0002-operations.js';
import type { SchemaComponent } from './schema-component.js';
import { postgresDialect } from './schema-dialect.js';

/** The producing side's tables. A step that was released is never changed; changes come as new steps. */
export function outboxComponent(names: OutboxNames): SchemaComponent {
  const tables = resolveTables();
  return {
    name: 'outbox',
    key: componentKey(
      'outbox',
      names.schema,
      [names.event, names.delivery, names.lane, names.aggregate, names.destination],
      [tables.event, tables.delivery, tables.lane, tables.aggregate, tables.destination].map(quoteIdentifier),
    ),
    dialect: postgresDialect,
    schema: names.schema,
    versionTable: names.version,
    steps: [eventLogAndDeliveryQueue(names), operations(names)],
  };
}
