import { ConfigurationError } from '../errors/index.js';

/** @throws ConfigurationError when a change by hand would reach everything there is. */
export function requireCondition(action: string, filter: object): void {
  if (Object.values(filter).some((condition) => condition !== undefined)) return;
  throw new ConfigurationError(
    `${action}() got an empty filter, which would select everything. Name at least one condition.`,
  );
}
