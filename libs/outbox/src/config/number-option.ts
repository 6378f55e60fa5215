import { ConfigurationError } from '../errors/index.js';

/** @throws ConfigurationError naming the option when the value is no whole number within the bounds. */
export function wholeNumber(
  name: string,
  given: number | undefined,
  fallback: number,
  min: number,
  max: number,
): number {
  const value = given ?? fallback;
  if (!Number.isSafeInteger(value) || value < min || value > max) {
    throw new ConfigurationError(`${name} is ${String(value)}; it must be a whole number from ${min} to ${max}.`);
  }
  return value;
}
