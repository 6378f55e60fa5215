import type { Retry } from './publish-outcome.js';

/** For an event that was sent when its time was over, or its connection: nobody knows what became of it. */
export const unanswered: Retry = {
  kind: 'retry',
  error: 'the destination did not answer in time, and may have the event.',
};
