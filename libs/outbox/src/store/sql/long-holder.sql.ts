/**
 * Who holds a lock on one of the tables $1 (qualified names) in a transaction that began more than $2 ms ago: to queue
 * behind them for a lock that shuts out everybody would make everybody else wait as well. Zero rows: nobody that may be
 * seen.
 */
export const LONG_HOLDER_SQL = `select coalesce(nullif(a.application_name, ''), a.backend_type) || ' (pid ' || a.pid || ')' as holder
from pg_locks l join pg_stat_activity a on a.pid = l.pid
where l.database = (select oid from pg_database where datname = current_database())
  and l.relation = any (array(select to_regclass(name)::oid from unnest($1::text[]) as name)) and l.granted
  and a.pid <> pg_backend_pid() and a.xact_start < clock_timestamp() - $2 * interval '1 millisecond'
order by a.xact_start limit 1`;
