import { type Check, ok, problem, warning } from '../finding.js';
import { durationInWords as words } from '../in-words.js';
import { longestRedeliveryMs } from '../longest-redelivery.js';

/** Events of the log that are older are not there by intent any more. */
const LONG_MS = 90 * 86_400_000;

/** Undelivered events and dead letters are never removed by age; what a person could still want to look at or replay may be. */
export const retentionCheck: Check = {
  name: 'retention',
  isAtStart: false,
  async look({ database, outbox }) {
    if (outbox === undefined) return undefined;
    const { names, options, retainForMs } = outbox;
    const { oldestEventMs = 0 } = await database.ages(names);
    const oldest = oldestEventMs === 0 ? 'the log is empty' : `the oldest event is of ${words(oldestEventMs)} ago`;
    if (retainForMs === undefined) {
      return warning(
        `nothing says how long delivered events are kept; ${oldest}`,
        'Give OutboxModule its "retention", or run `outbox retention run --older-than 30d` regularly.',
      );
    }
    const neededMs = Math.max(0, ...[...(options?.destinations.values() ?? [])].map(longestRedeliveryMs));
    if (retainForMs < neededMs) {
      return problem(
        `events are removed after ${words(retainForMs)}, and may still be on their way to another destination after ${words(neededMs)}`,
        `Keep them for longer than ${words(neededMs)}.`,
      );
    }
    if (oldestEventMs > Math.max(LONG_MS, 2 * retainForMs)) {
      return warning(
        `events are to be removed after ${words(retainForMs)}, but ${oldest}`,
        'Find out why retention does not run, or what keeps that event: a delivery that never ends.',
      );
    }
    return ok(`delivered events are kept for ${words(retainForMs)}; ${oldest}`);
  },
};
