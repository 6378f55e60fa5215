/**
 * Takes the turn named $1 to the end of the transaction, if nobody else has it (`is_mine`), and bounds its waits for
 * locks to $2. The lock is one of the transaction, so that it holds behind a pooler in transaction mode as well. Where
 * the process could stop between two statements, what it holds must not outlive it by more than ten seconds.
 */
export const TAKE_TURN_SQL = `select set_config('lock_timeout', $2, true),
  set_config('idle_in_transaction_session_timeout', '10s', true),
  pg_try_advisory_xact_lock(hashtextextended($1, 0)) as is_mine`;
