/** SQLSTATE of node-postgres' error, or of the one that TypeORM wrapped. */
export function sqlStateOf(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null) return undefined;
  const { code, driverError } = error as { code?: unknown; driverError?: unknown };
  if (typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code)) return code;
  return driverError === error ? undefined : sqlStateOf(driverError);
}

/** True when a lock was not to be had within the time given, or not without a deadlock: the same may work later. */
export function isLockTimeout(error: unknown): boolean {
  return ['55P03', '40P01'].includes(sqlStateOf(error) ?? '');
}
