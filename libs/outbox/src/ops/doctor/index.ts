export { checkAtStart } from './check-at-start.js';
export { CHECKS, START_UP_CHECKS } from './checks/index.js';
export { examine } from './examine.js';
export type { Examined, ExaminedInbox, ExaminedOutbox } from './examined.js';
export { examinedAt, type OutboxPlace } from './examined-at.js';
export type { Check, Finding, FindingStatus } from './finding.js';
export { durationInWords } from './in-words.js';
