/** What time it is for leases, retries and retention. Locks nothing. */
export function readClockSql(): string {
  return 'select clock_timestamp() as now';
}
