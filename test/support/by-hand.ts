import type { ManualChange } from 'nestjs-transactional-outbox';

/** Who changes things by hand in tests. */
export const byHand: ManualChange = { by: 'the test', reason: 'the receiver was mended' };
