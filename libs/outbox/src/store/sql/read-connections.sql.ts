/**
 * How many connections the server takes, how many there are, and how many dispatchers listen in this database: each process
 * with a running dispatcher does, on one connection. Locks nothing.
 */
export function readConnectionsSql(): string {
  return `select current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int as allowed,
  (select sum(numbackends)::int from pg_stat_database) as used,
  (select count(*)::int from pg_stat_activity
    where datname = current_database() and application_name like '%:outbox-listen') as listening`;
}
