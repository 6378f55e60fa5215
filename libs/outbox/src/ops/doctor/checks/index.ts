import type { Check } from '../finding.js';
import { clockCheck } from './clock.js';
import { dedupeWindowCheck } from './dedupe-window.js';
import { durabilityCheck } from './durability.js';
import { inboxSchemaCheck } from './inbox-schema.js';
import { indexesCheck } from './indexes.js';
import { leaseCheck } from './lease.js';
import { orphansCheck } from './orphans.js';
import { outboxSchemaCheck } from './outbox-schema.js';
import { partitionsCheck } from './partitions.js';
import { poolShareCheck } from './pool-share.js';
import { poolerCheck } from './pooler.js';
import { retentionCheck } from './retention.js';
import { servedRoutesCheck } from './served-routes.js';
import { vacuumCheck } from './vacuum.js';

export const SCHEMA_CHECKS: readonly Check[] = [outboxSchemaCheck, inboxSchemaCheck];

/** Of tables that are there, in the order in which they are worth reading. */
export const TABLE_CHECKS: readonly Check[] = [
  indexesCheck,
  leaseCheck,
  dedupeWindowCheck,
  retentionCheck,
  partitionsCheck,
  servedRoutesCheck,
  orphansCheck,
  poolShareCheck,
  poolerCheck,
  clockCheck,
  vacuumCheck,
  durabilityCheck,
];

export const START_UP_CHECKS: readonly Check[] = TABLE_CHECKS.filter(({ isAtStart }) => isAtStart);
