import { ConfigurationError } from '../errors/index.js';
import type { DestinationOptions } from './module-options.js';
import { wholeNumber } from './number-option.js';
import type { ResolvedDestination } from './resolved-options.js';

const DAY_MS = 86_400_000;
const MIB = 1_048_576;
const MAX_NAME_CHARACTERS = 100;

/** Applies the defaults of one destination and checks its numbers against each other. */
export function resolveDestination(name: string, options: DestinationOptions): ResolvedDestination {
  const where = `destinations.${name}`;
  if (name.trim() === '' || name.length > MAX_NAME_CHARACTERS) {
    throw new ConfigurationError(
      `a destination is named ${JSON.stringify(name)}; a name has 1 to ${MAX_NAME_CHARACTERS} characters.`,
    );
  }
  if (typeof options?.transport?.publish !== 'function') {
    throw new ConfigurationError(`${where}.transport is no transport. Give it for example new HttpTransport({ url }).`);
  }
  const number = (
    key: Exclude<keyof DestinationOptions, 'transport'>,
    fallback: number,
    min: number,
    max: number,
  ): number => wholeNumber(`${where}.${key}`, options[key], fallback, min, max);
  const resolved: ResolvedDestination = {
    name,
    transport: options.transport,
    batchSize: number('batchSize', 100, 1, 1000),
    batchBytes: number('batchBytes', 16 * MIB, 1024, 1024 * MIB),
    batchesInFlight: number('batchesInFlight', 2, 1, 16),
    concurrency: number('concurrency', 16, 1, 256),
    leaseMs: number('leaseMs', 30_000, 100, DAY_MS),
    publishTimeoutMs: number('publishTimeoutMs', 10_000, 10, DAY_MS),
    maxAttempts: number('maxAttempts', 12, 1, 1000),
    retryBaseMs: number('retryBaseMs', 1000, 1, DAY_MS),
    retryCapMs: number('retryCapMs', 300_000, 1, 30 * DAY_MS),
    maxDeferAgeMs: number('maxDeferAgeMs', 7 * DAY_MS, 1, 3650 * DAY_MS),
    pauseBaseMs: number('pauseBaseMs', 1000, 1, DAY_MS),
    pauseCapMs: number('pauseCapMs', 30_000, 1, DAY_MS),
  };
  requireLess(where, resolved, 'publishTimeoutMs', 'leaseMs', 'a publish would outlive its lease and be sent twice');
  requireAtMost(where, resolved, 'retryBaseMs', 'retryCapMs');
  requireAtMost(where, resolved, 'pauseBaseMs', 'pauseCapMs');
  return resolved;
}

type NumberKey = Exclude<keyof DestinationOptions, 'transport'>;

function requireLess(where: string, options: ResolvedDestination, low: NumberKey, high: NumberKey, why: string): void {
  if (options[low] < options[high]) return;
  throw new ConfigurationError(
    `${where}: "${low}" (${options[low]}) must be less than "${high}" (${options[high]}), or ${why}.`,
  );
}

function requireAtMost(where: string, options: ResolvedDestination, low: NumberKey, high: NumberKey): void {
  if (options[low] <= options[high]) return;
  throw new ConfigurationError(`${where}: "${low}" (${options[low]}) must not exceed "${high}" (${options[high]}).`);
}
