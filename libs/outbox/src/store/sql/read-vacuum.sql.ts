import { literal } from '../migrations/schema-dialect.js';
import type { OutboxNames } from '../table-names.js';

/**
 * Whether dead rows of the queue are cleared away, and what keeps them: the age in ms of the oldest transaction of this
 * database, of those that this role may see. Locks nothing.
 */
export function readVacuumSql(names: OutboxNames): string {
  return `select current_setting('autovacuum')::bool and current_setting('track_counts')::bool as is_on,
  coalesce('autovacuum_enabled=false' = any(c.reloptions), false) as is_off_for_queue,
  coalesce(s.n_dead_tup, 0)::float8 as dead_rows, coalesce(s.n_live_tup, 0)::float8 as live_rows,
  (select (extract(epoch from clock_timestamp() - min(a.xact_start)) * 1000)::float8 from pg_stat_activity a
    where a.datname = current_database() and a.pid <> pg_backend_pid()) as oldest_transaction_ms
from pg_class c
left join pg_stat_all_tables s on s.relid = c.oid
where c.oid = to_regclass(${literal(names.delivery)})`;
}
