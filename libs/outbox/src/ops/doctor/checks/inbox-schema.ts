import type { Check } from '../finding.js';
import { schemaVerdict } from './schema-verdict.js';

/** At start the schema guard asks this, and refuses. */
export const inboxSchemaCheck: Check = {
  name: 'inbox tables',
  isAtStart: false,
  look: async ({ inbox, versionOf }) => inbox && schemaVerdict(inbox.component, await versionOf(inbox.component)),
};
