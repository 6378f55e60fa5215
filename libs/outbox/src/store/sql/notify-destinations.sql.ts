/**
 * One notification on channel $1 for each destination of $2. Outside a transaction it is sent at once; locks no row.
 * Its commit does not wait for the disk: who misses it polls.
 */
export function notifyDestinationsSql(): string {
  return `select pg_notify($1, name) from (select set_config('synchronous_commit', 'off', true) offset 0) as commit,
  unnest($2::text[]) as name`;
}
