import { wholeNumber } from '../config/index.js';

const TEN_YEARS_MS = 3650 * 86_400_000;

/** @throws ConfigurationError when it is out of bounds. */
export const ageMs = (name: string, given: number): number => wholeNumber(name, given, 0, 0, TEN_YEARS_MS);

/** @throws ConfigurationError when it is out of bounds. */
export const lockTimeoutMs = (given: number | undefined): number => wholeNumber('lockTimeoutMs', given, 200, 1, 60_000);
