import type { InboxNames } from '../table-names.js';
import { processedEvents } from './inbox-0001-processed-events.js';
import type { SchemaComponent } from './schema-component.js';

/** The consuming side's table. A step that was released is never changed; changes come as new steps. */
export function inboxComponent(names: InboxNames): SchemaComponent {
  return {
    name: 'inbox',
    schema: names.schema,
    versionTable: names.version,
    steps: [processedEvents(names)],
  };
}
