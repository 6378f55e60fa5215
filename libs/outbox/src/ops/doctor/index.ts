export { checkAtStart } from './check-at-start.js';
export { schemaVerdict } from './checks/schema-verdict.js';
export { diagnose } from './examine.js';
export type { Examined, ExaminedInbox, ExaminedOutbox } from './examined.js';
export { examinedAt, type OutboxPlace } from './examined-at.js';
export type { Check, Finding, FindingStatus } from './finding.js';
export { durationInWords } from './in-words.js';
