/** One notification on channel $1 for each destination of $2. Outside a transaction it is sent at once; locks no row. */
export function notifyDestinationsSql(): string {
  return 'select pg_notify($1, name) from unnest($2::text[]) as name';
}
