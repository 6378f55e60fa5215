import { type Check, ok, problem, warning } from '../finding.js';
import { durationInWords } from '../in-words.js';

const MANY_DEAD_ROWS = 100_000;
const LONG_TRANSACTION_MS = 3_600_000;

/** Rows of the queue live for milliseconds; dead ones that nobody clears away make every claim slower. */
export const vacuumCheck: Check = {
  name: 'vacuum',
  isAtStart: true,
  async look({ database, outbox }) {
    if (outbox === undefined) return undefined;
    const { isOn, deadRows, liveRows, oldestTransactionMs } = await database.vacuum(outbox.names);
    const rows = `the queue has ${deadRows} dead rows and ${liveRows} live ones`;
    if (!isOn) {
      return problem(`autovacuum is off; ${rows}`, 'Set "autovacuum" and "track_counts" on, for the queue as well.');
    }
    if (oldestTransactionMs > LONG_TRANSACTION_MS) {
      return warning(
        `a transaction has been open for ${durationInWords(oldestTransactionMs)}, and no row that died since can be cleared away; ${rows}`,
        'Find it in pg_stat_activity by "xact_start", and end it; set "idle_in_transaction_session_timeout".',
      );
    }
    if (deadRows > Math.max(MANY_DEAD_ROWS, liveRows)) {
      return warning(rows, 'Run `vacuum` on it, and look what keeps autovacuum away.');
    }
    return ok(`autovacuum is on; ${rows}`);
  },
};
