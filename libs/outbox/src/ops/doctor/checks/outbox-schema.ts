import type { Check } from '../finding.js';
import { schemaVerdict } from './schema-verdict.js';

/** At start the schema guard asks this, and refuses. */
export const outboxSchemaCheck: Check = {
  name: 'outbox tables',
  isAtStart: false,
  look: async ({ outbox, versionOf }) => outbox && schemaVerdict(outbox.component, await versionOf(outbox.component)),
};
