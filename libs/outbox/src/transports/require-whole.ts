import { ConfigurationError } from '../errors/index.js';

/** @throws ConfigurationError unless the value is a whole number within the bounds. */
export function requireWhole(
  transport: string,
  option: string,
  value: number,
  { min = 1, max = Number.MAX_SAFE_INTEGER }: { readonly min?: number; readonly max?: number } = {},
): number {
  if (Number.isSafeInteger(value) && value >= min && value <= max) return value;
  const bounds = max === Number.MAX_SAFE_INTEGER ? `from ${min}` : `from ${min} to ${max}`;
  throw new ConfigurationError(`${transport}: "${option}" is ${value}; it must be a whole number ${bounds}.`);
}
