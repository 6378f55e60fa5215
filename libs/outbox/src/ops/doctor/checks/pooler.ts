import { type Check, ok, warning } from '../finding.js';

/** At start the dispatcher finds out by itself, by a probe. */
export const poolerCheck: Check = {
  name: 'pooler',
  isAtStart: false,
  async look({ database, outbox }) {
    if (!(await database.isPooled())) return ok('connections reach PostgreSQL itself');
    if (outbox?.options?.dispatcher.wakeUp !== true) {
      return ok('a pooler answers in the place of PostgreSQL, and no wake-ups are expected through it');
    }
    return warning(
      'a pooler answers in the place of PostgreSQL: in transaction mode no wake-up comes through it, and events wait for the next poll',
      'Set "dispatcher.wakeUp" to false, or let the pooler work in session mode.',
    );
  },
};
